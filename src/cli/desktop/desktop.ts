// Installs, removes and checks the entry in the menus of file managers. Replaces and removes its own files
// only.

import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { CommandFailure } from '../failures.ts'
import { profilesPath, readProfiles } from '../profiles.ts'
import type { Shell } from '../shell.ts'
import { replaceFile } from '../whole-file.ts'
import { missingClipboard } from './clipboard.ts'
import { MARK, type MenuFile, menuFiles, shortcutScript } from './menus.ts'
import { missingNotifier } from './notification.ts'

type EntryState = 'installed' | 'missing' | 'outdated' | 'foreign'

export function install(shell: Shell): void {
  const files = requireFiles(shell)
  const foreign = files.find((file) => stateOf(file) === 'foreign')
  if (foreign !== undefined)
    throw new CommandFailure(`${foreign.path} is a file of somebody else, so nothing was installed.`)
  for (const file of files) write(file, files)
  shell.print('Installed "Share through Oncebox" for you:', ...files.map(lineOf))
  tellMissing(shell)
}

export function uninstall(shell: Shell): void {
  const files = requireFiles(shell).filter((file) => ['installed', 'outdated'].includes(stateOf(file)))
  for (const { path } of files) rmSync(path, { force: true })
  shell.print(files.length === 0 ? 'It was not installed.' : 'Removed:', ...files.map(lineOf))
}

/** Prints what is installed. Returns false unless everything is as this program would install it. */
export function status(shell: Shell): boolean {
  const files = requireFiles(shell)
  shell.print(...files.map((file) => `${stateOf(file).padEnd(9)}${lineOf(file)}`))
  tellMissing(shell)
  return files.every((file) => stateOf(file) === 'installed')
}

const lineOf = ({ path, isFor }: MenuFile) => `  ${path}  for ${isFor}`

function requireFiles({ os, self }: Shell): MenuFile[] {
  const files = menuFiles(os, self)
  if (files.length > 0) return files
  throw new CommandFailure('There is no such menu on macOS: use "oncebox push --file FILE --copy".')
}

function stateOf({ path, content, mode }: MenuFile): EntryState {
  try {
    const found = lstatSync(path)
    if (!found.isFile()) return 'foreign'
    // A shortcut of Windows is binary; its name is enough.
    if (content === '') return 'installed'
    const text = readFileSync(path, 'utf8')
    if (!text.includes(MARK)) return 'foreign'
    const isSame = text === content && (process.platform === 'win32' || (found.mode & 0o777) === mode)
    return isSame ? 'installed' : 'outdated'
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return 'missing'
    throw cause
  }
}

function write({ path, content, mode }: MenuFile, [first]: readonly MenuFile[]): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (content === '') makeShortcut(path, first?.path ?? '')
    else replaceFile(path, content, { mode })
  } catch (cause) {
    throw new CommandFailure(`${JSON.stringify(path)} cannot be written: ${reasonOf(cause)}.`)
  }
}

function makeShortcut(path: string, script: string): void {
  const stdin = Buffer.from(shortcutScript(path, script))
  const made = Bun.spawnSync(['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', '-'], { stdin })
  if (!made.success) throw new Error('PowerShell could not make the shortcut')
}

/** Names what sharing from the menu needs and this machine lacks. */
function tellMissing(shell: Shell): void {
  const { os } = shell
  const hasLogin = readProfiles(profilesPath(os)).some(({ apiToken }) => apiToken !== null)
  const missing = [
    missingClipboard(os),
    missingNotifier(os),
    hasLogin ? null : 'Files need a login: "oncebox login URL".',
  ]
  for (const line of missing) if (line !== null) shell.say(line)
}
