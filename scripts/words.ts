// Writes types/english.d.ts, by which an editor shows the English text of a word key: `npm run words`.

import { join } from 'node:path'

export const DECLARATION = join(import.meta.dir, '..', 'types', 'english.d.ts')

const ENGLISH = join(import.meta.dir, '..', 'src', 'words', 'en.json')

/** Shows a plural by its form for many. */
export function declarationOf(catalogue: Record<string, string | { other: string }>): string {
  const rows = Object.entries(catalogue).map(
    ([key, text]) =>
      `  ${JSON.stringify(key)}: ${JSON.stringify(typeof text === 'string' ? text : text.other)}`,
  )
  return [
    '// Generated from src/words/en.json by `npm run words`.',
    '\ninterface EnglishTexts {',
    ...rows,
    '}\n',
  ].join('\n')
}

export async function writeDeclaration(): Promise<void> {
  const text = declarationOf(await Bun.file(ENGLISH).json())
  const before = await Bun.file(DECLARATION)
    .text()
    .catch(() => '')
  if (text !== before) await Bun.write(DECLARATION, text)
}

if (import.meta.main) await writeDeclaration()
