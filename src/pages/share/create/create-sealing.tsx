// The choice to encrypt in the browser. A script shows it once it works.

import type { PartProps } from './create-props.ts'

export function Sealing({ words: { say }, limits, typed, createScripts }: PartProps) {
  if (limits.endToEnd === 'off') return null
  return (
    <>
      <span
        class="tick"
        data-kind="text file"
        hidden
        data-seals
        data-age={createScripts.age}
        data-seal={createScripts.seal}
        data-blank={say('problem_blank')}
        data-only={say('sealed_only')}
        data-broken={say('sealed_broken', { command: 'oncebox push' })}
      >
        <input
          type="checkbox"
          id="end_to_end"
          autocomplete="off"
          checked={typed('end_to_end') === 'true'}
          disabled={limits.endToEnd === 'required'}
        />
        <label for="end_to_end">{say('sealed_choice')}</label>
      </span>
      <p class="problem" role="alert" hidden data-sealing-told />
    </>
  )
}

/** Follows a label. A script shows it while the content is encrypted but this field is not. */
export function ServerReads({ words: { say } }: Pick<PartProps, 'words'>) {
  return (
    <span class="hint" hidden data-when-sealed>
      {' '}
      ({say('sealed_server_reads')})
    </span>
  )
}
