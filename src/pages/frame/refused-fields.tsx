// The summary at the top of a refused form: which fields to check, each as a link to its field.

import type { Words } from '../../words/words.ts'
import { RefusedNotice } from './parts.tsx'

type RefusedFieldsProps = {
  /** What is wrong, by the id of the field. */
  problems: Readonly<Record<string, string | undefined>>
  words: Words
}

/** Nothing without problems. */
export function RefusedFields({ problems, words }: RefusedFieldsProps) {
  const found = Object.entries(problems).filter(([, text]) => text !== undefined)
  if (found.length === 0) return null
  const links = found.map(([id, text]) => (
    <a key={id} href={`#${id}`}>
      {text}
    </a>
  ))
  return (
    <RefusedNotice>
      {links.length === 1 ? (
        <p>{links}</p>
      ) : (
        <>
          <p>{words.say('form_problems')}</p>
          <ul>
            {links.map((link) => (
              <li key={link.key}>{link}</li>
            ))}
          </ul>
        </>
      )}
    </RefusedNotice>
  )
}
