// Bundles the browser's scripts and styles while Oncebox is built, so that scripts can use packages and share
// code with the server. Import these functions as macros: the importing file then contains the text.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files of the style sheet, in cascade order: later ones may override earlier ones. */
const STYLES = `tokens base header forms buttons parts tables
  create created receive revealed sealed lists push account admin docs print`

export function joinStyles(): string {
  const files = STYLES.split(/\s+/).map((name) => join(import.meta.dir, 'styles', `${name}.css`))
  const text = files.map((path) => readFileSync(path, 'utf8')).join('\n')
  // Remove comments and indentation.
  return text.replace(/\/\*.*?\*\/\s*/gs, '').replace(/\n\s+/g, '\n')
}

/** Returns the content hash for the name of the style sheet. */
export function hashStyle(): string {
  return Bun.hash(joinStyles()).toString(36)
}

/** Returns the content hash for the name of a bundle. */
export function hashBundle(name: string): string {
  return Bun.hash(bundleForBrowser(name)).toString(36)
}

/** Returns the script of browser/ with everything that it imports. */
export function bundleForBrowser(name: string): string {
  const entry = join(import.meta.dir, 'browser', name)
  // Bun.build() is not available in a macro, so run the bundler as a program.
  const command = [process.execPath, 'build', entry, '--target=browser', '--format=esm', '--minify']
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${name} could not be bundled: ${stderr}`)
  return stdout.toString()
}
