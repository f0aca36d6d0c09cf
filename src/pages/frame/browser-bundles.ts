// Bundles scripts of the browser while Oncebox itself is built, so that they can consist of small files, use packages, and
// share code with the server. To be imported as a macro: the caller then holds the text.

import { join } from 'node:path'

/** The script in browser/ with everything that it imports, as one text. */
export function bundleForBrowser(name: string): string {
  const entry = join(import.meta.dir, 'browser', name)
  // In a macro the bundler itself can only be called as a program.
  const command = [process.execPath, 'build', entry, '--target=browser', '--format=esm', '--minify']
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${name} could not be bundled: ${stderr}`)
  return stdout.toString()
}
