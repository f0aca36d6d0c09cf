// Opens the browser of a desktop session at a link that nobody else may see.

import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { OperatingSystem } from '../settings/parsers.ts'

/**
 * How long the file with the link stays. Long, because a browser that has to start first may need half a
 * minute.
 */
export const FILE_MS = 60_000

/** Opens a file with the person's own browser; null without a desktop session. */
export function openerOf({ env, platform }: Pick<OperatingSystem, 'env' | 'platform'>): string[] | null {
  // Over SSH, a browser would open on a desktop that the person does not see.
  if (env.SSH_CONNECTION || env.SSH_TTY) return null
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null
}

/**
 * Folders for the file, the best first. On Linux, browsers in a sandbox (Snap, Flatpak) read only visible
 * folders of the home folder, while the data folder is usually a hidden one.
 */
export function filePlaces({ platform, home }: OperatingSystem, dataDir: string): string[] {
  if (platform !== 'linux') return [dataDir]
  const isVisible = dataDir.startsWith(`${home}/`) && !dataDir.slice(home.length).includes('/.')
  return isVisible || !posix.isAbsolute(home) ? [dataDir] : [home, dataDir]
}

/**
 * A page that leads to the link. Other users can see the arguments of a process, so only the file contains
 * the link.
 */
export function redirectPage(link: string): string {
  const escaped = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${escaped}">
<title>Oncebox</title>
<p><a href="${escaped}">Open Oncebox</a></p>
`
}

/**
 * Opens the browser if there is one, without waiting for it. Returns what removes the file; it goes after a
 * minute anyway.
 */
export function createOpenLink(os: OperatingSystem) {
  return ({ link, dataDir }: { link: string; dataDir: string }): (() => void) => {
    const [command, ...args] = openerOf(os) ?? []
    if (command === undefined) return () => undefined
    const path = writePage(redirectPage(link), { folders: filePlaces(os, dataDir), link })
    if (path === null) return () => undefined
    const remove = () => rmSync(path, { force: true })
    const later = setTimeout(remove, FILE_MS)
    later.unref()
    start(command, [...args, path]).once('error', remove)
    return () => {
      clearTimeout(later)
      remove()
    }
  }
}

/** Opens the browser at a page whose address is no secret. Returns false without a desktop session. */
export function createOpenPage(os: OperatingSystem) {
  return (url: string): boolean => {
    const [command, ...args] = openerOf(os) ?? []
    if (command === undefined) return false
    // A machine without the opener prints the address as well.
    start(command, [...args, url]).once('error', () => undefined)
    return true
  }
}

/**
 * A new file that only this user can read; null when no folder takes it. Replaces what a killed server left
 * behind.
 */
function writePage(html: string, { folders, link }: { folders: string[]; link: string }): string | null {
  for (const folder of folders) {
    const path = `${folder}/oncebox-setup-${new URL(link).port || 'link'}.html`
    try {
      rmSync(path, { force: true })
      writeFileSync(path, html, { flag: 'wx', mode: 0o600 })
      return path
    } catch {
      // Try the next folder: this one may be read-only.
    }
  }
  return null
}

/** Outlives this process, and prints nothing into its terminal. */
function start(command: string, args: string[]): ChildProcess {
  const child = spawn(command, args, { detached: true, stdio: 'ignore' })
  child.unref()
  return child
}

/**
 * Whether a start without arguments is most likely a double click: on Windows and macOS, except from a remote
 * terminal.
 */
export function isStartedByClick({ os }: { os: OperatingSystem }): boolean {
  return (os.platform === 'win32' || os.platform === 'darwin') && openerOf(os) !== null
}

type Window = { os: OperatingSystem; isTerminal: boolean; ask: (question: string) => Promise<string> }

/** Keeps the window open on Windows, which closes it with all output when the program ends. */
export async function keepWindow({ os, isTerminal, ask }: Window): Promise<void> {
  if (os.platform === 'win32' && isTerminal) await ask('Press Enter to close this window. ')
}
