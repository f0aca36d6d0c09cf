// The encrypted content as it arrived. The browser opens it in its place, with an identity file or the key in
// the link; without scripts a program opens it.

import { isSealedName, isSealedText } from '../../domain/age-recipient.ts'
import { isEndToEnd, type Push } from '../../domain/push.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Flag, fillIn, Notice } from '../frame/parts.tsx'
import { IdentityChooser, type SealingScripts, Told, textsOf } from '../frame/sealing.tsx'

type Retrieved = { push: Push; payload: string; files: readonly { filename: string }[] }

/**
 * Whether the push holds age ciphertext: an end-to-end push, or an answer that was encrypted for its owner.
 */
export function isSealed({ push, payload, files }: Retrieved): boolean {
  if (isEndToEnd(push)) return true
  const [first] = files
  return first === undefined ? isSealedText(payload) : isSealedName(first.filename)
}

type SealedProps = {
  guest: Guest
  push: Push
  scripts: SealingScripts
  isAnswer: boolean
  children: Children
}

export function Sealed({ guest: { words }, push, scripts, isAnswer, children }: SealedProps) {
  const { say } = words
  const command = push.keyCheck === null ? 'age -d -i key.txt' : 'oncebox get --sealed secret.age'
  return (
    <div
      data-sealed
      data-answer={isAnswer}
      data-unseals={scripts.unseal}
      data-age={scripts.age}
      data-words={textsOf(words)}
      class="unsealing"
    >
      <Notice kind="low">
        {push.keyCheck === null && (
          <p>
            <strong>{say('key_only')}</strong>
          </p>
        )}
        <p>{fillIn(say('key_open'), 'command', <Flag>{command}</Flag>)}</p>
      </Notice>
      <Told />
      <IdentityChooser words={words} />
      {children}
    </div>
  )
}
