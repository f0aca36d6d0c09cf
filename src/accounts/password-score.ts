// How easily a password is guessed, by zxcvbn, with its lists of common passwords and words. Import it when a
// password is chosen, not before: the lists need 35 MB of memory. The browser runs this too.

import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/**
 * What bounds the work: it grows faster than the password, and with the ways to read figures and signs as
 * letters, such as `4` and `@` as `a`, of which a hostile password has hundreds.
 */
const BOUNDS = { maxLength: 32, l33tMaxSubstitutions: 20 }

/** What everybody would try first: the name of the instance, and the parts of the e-mail address. */
export type Guessable = { instance: string; email: string }

/** Returns the score of a password, 0 to 4. The lists are prepared once. */
export function createScorePassword() {
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, ...BOUNDS })
  return (password: string, { instance, email }: Guessable): number =>
    zxcvbn.check(password.slice(0, BOUNDS.maxLength), [instance, email, ...email.split(/[@.+_-]/)]).score
}
