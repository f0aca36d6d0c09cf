// Scores how easily a password is guessed, by zxcvbn with its lists of common passwords and words. Import it
// when a password is chosen, not before: the lists need 35 MB of memory. Also runs in the browser.

import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/**
 * Limits on scoring. Its cost grows faster than the password's length, and with the look-alike substitutions
 * (`4` or `@` for `a`), of which a hostile password has hundreds.
 */
const BOUNDS = { maxLength: 32, l33tMaxSubstitutions: 20 }

/** First guesses of an attacker: the name of the instance, and the parts of the e-mail address. */
type Guessable = { instance: string; email: string }

/** Makes a function that scores a password from 0 to 4. Prepares the lists once. */
export function createScorePassword() {
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, ...BOUNDS })
  return (password: string, { instance, email }: Guessable): number =>
    zxcvbn.check(password.slice(0, BOUNDS.maxLength), [instance, email, ...email.split(/[@.+_-]/)]).score
}
