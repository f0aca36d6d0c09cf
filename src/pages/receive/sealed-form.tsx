// The form that opens an end-to-end push: a script decrypts the answer. Without scripts, the page names the
// command that does.

import type { Push } from '../../domain/push.ts'
import type { Guest } from '../frame/guest.ts'
import type { Html } from '../frame/html.ts'
import { Icon } from '../frame/icons.tsx'
import { Flag, fillIn, Notice } from '../frame/parts.tsx'
import {
  IdentityChooser,
  NeedsScript,
  type SealingScripts,
  Told,
  textsOf,
  WholeLinkInput,
} from '../frame/sealing.tsx'

const GET = 'oncebox get'
/** The name under which the script saves what it could not open. */
const OPEN_SAVED = 'oncebox get --sealed secret.age'

type SealedFormProps = { guest: Guest; push: Push; scripts: SealingScripts; form: Html }

export function SealedForm({ guest: { words }, push, scripts, form }: SealedFormProps) {
  const { say } = words
  const openSaved = push.keyCheck === null ? `${OPEN_SAVED} --identity key.txt` : OPEN_SAVED
  const noScript = (
    <>
      <Notice kind="low">
        <p>{fillIn(say('sealed_no_script'), 'command', <Flag>{GET}</Flag>)}</p>
      </Notice>
      {form}
    </>
  )
  return (
    <NeedsScript
      words={words}
      command={GET}
      otherwise={noScript}
      attributes={{
        ...{ 'data-unseals': scripts.unseal, 'data-age': scripts.age },
        ...{ 'data-key-check': push.keyCheck ?? '', 'data-words': textsOf(words) },
      }}
    >
      <div class="unsealing">
        <Told />
        <WholeLinkInput words={words} />
        <IdentityChooser words={words} />
        {form}
        <div hidden data-saves-sealed>
          <p class="hint">{fillIn(say('sealed_save_hint'), 'command', <Flag>{openSaved}</Flag>)}</p>
          <button type="button" class="quiet">
            <Icon name="save" />
            <span>{say('sealed_save')}</span>
          </button>
        </div>
      </div>
    </NeedsScript>
  )
}
