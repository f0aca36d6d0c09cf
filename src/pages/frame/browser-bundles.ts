// Bundles scripts and styles of the browser while Oncebox itself is built, so that they can consist of small
// files, and scripts can use packages and share code with the server. To be imported as macros: the caller
// then holds the text.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { wordlist } from '@scure/bip39/wordlists/english.js'

/** The files of the style sheet by part. Later ones may override earlier ones. */
const STYLES = `tokens base header forms buttons parts tables
  create created receive revealed lists push account admin docs print`

export function joinStyles(): string {
  const files = STYLES.split(/\s+/).map((name) => join(import.meta.dir, 'styles', `${name}.css`))
  return files.map((path) => readFileSync(path, 'utf8')).join('\n')
}

/** The words of generated passphrases. As one text, a start need not make each of them. */
export function scriptOfWords(): string {
  return `export const wordlist = ${JSON.stringify(wordlist)}\n`
}

/** What tells one bundle from another in the name of its file. */
export function hashBundle(name: string): string {
  return Bun.hash(bundleForBrowser(name)).toString(36)
}

/** The script in browser/ with everything that it imports, as one text. */
export function bundleForBrowser(name: string): string {
  const entry = join(import.meta.dir, 'browser', name)
  // In a macro the bundler itself can only be called as a program.
  const command = [process.execPath, 'build', entry, '--target=browser', '--format=esm', '--minify']
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${name} could not be bundled: ${stderr}`)
  return stdout.toString()
}
