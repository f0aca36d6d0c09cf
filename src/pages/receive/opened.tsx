// The content of an encrypted push, rendered in the browser that opened it. Looks as the server renders it.

import type { Guest } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { Notice } from '../frame/parts.tsx'
import { RevealedMessage, RevealedText } from './revealed-text.tsx'

/** A file, or the text of a row whose file the server has lost. */
type OpenedRow = { name: string; size: number } | { lost: string }

type OpenedProps = {
  guest: Guest
  text: string | null
  rows: readonly OpenedRow[]
  isUnnumbered: boolean
  /** Whether its owner reads the answer to a request. */
  isAnswer: boolean
}

export function Opened({ guest, text, rows, isUnnumbered, isAnswer }: OpenedProps) {
  const isMessage = rows.length > 0 && !isAnswer
  return (
    <>
      {text !== null && !isMessage && (
        <RevealedText guest={guest} urlToken="" payload={text} sealedText={null} />
      )}
      {text !== null && isMessage && <RevealedMessage guest={guest} payload={text} />}
      {rows.length > 0 && (
        <section aria-labelledby="files-title">
          <h2 id="files-title">{guest.say('files')}</h2>
          <ul class="downloads">
            {rows.map((row, at) => (
              <li>
                {'lost' in row ? (
                  <p class="problem">{row.lost}</p>
                ) : (
                  <FileButton {...{ guest, at, ...row }} />
                )}
              </li>
            ))}
          </ul>
          {isUnnumbered && <Notice kind="low">{guest.say('sealed_unnumbered')}</Notice>}
        </section>
      )}
    </>
  )
}

/** Use a button, because the content has no URL that could be opened. */
function FileButton({ guest, at, name, size }: { guest: Guest; at: number; name: string; size: number }) {
  return (
    <button type="button" class="button file primary" data-file={at}>
      <Icon name="file" />
      <bdi>{name}</bdi>
      <span class="size">{guest.words.bytes(size)}</span>
    </button>
  )
}
