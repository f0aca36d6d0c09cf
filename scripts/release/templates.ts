// The recipes of other package managers, which download the files of a release: templates in packaging/,
// filled from its table.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { PROJECT } from '../compile.ts'
import type { ReleaseTable } from './table.ts'

/** Folders of packaging/. */
export const RECIPES = ['ansible', 'home-assistant', 'homebrew', 'winget'] as const

/** Replaces each `@name@`. Throws for a name without a value. */
export function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/@([A-Za-z][\w:-]*)@/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`@${name}@ has no value`)
    return value
  })
}

/**
 * Writes the recipe to a folder of its name. Throws before writing if a file that the recipe names was not
 * built.
 */
export function writeRecipe(recipe: string, folder: string, table: ReleaseTable): void {
  const source = join(PROJECT, 'packaging', recipe)
  const values = valuesOf(table)
  const filled = [...new Glob('**/*').scanSync({ cwd: source, dot: true })].sort().map((path) => ({
    path,
    mode: statSync(join(source, path)).mode & 0o100 ? 0o755 : 0o644,
    text: fillTemplate(readFileSync(join(source, path), 'utf8'), values),
  }))
  for (const { path, mode, text } of filled) {
    const target = join(folder, recipe, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text, { mode })
  }
}

function valuesOf({ version, base, files }: ReleaseTable): Record<string, string> {
  const ofFiles = files.flatMap(({ part, name, sha256 }) => [
    [`file:${part}`, name],
    [`sha256:${part}`, sha256],
  ])
  return { version, DOWNLOAD_BASE: base, ...Object.fromEntries(ofFiles) }
}
