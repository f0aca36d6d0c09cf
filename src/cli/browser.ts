// Opens the browser of a desktop session at a link, without showing the link to other users of the machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { OperatingSystem } from '../settings/parsers.ts'

/** How long the file with the link is kept. A browser that has to start first may need half a minute. */
export const FILE_MS = 60_000

/** Returns the command that opens a file or URL in the user's browser; null without a desktop session. */
export function openerOf({ env, platform }: Pick<OperatingSystem, 'env' | 'platform'>): string[] | null {
  // Over SSH, the browser would open on a desktop that the user does not see.
  if (env.SSH_CONNECTION || env.SSH_TTY) return null
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null
}

/**
 * Returns folders for the file, the best first. On Linux, sandboxed browsers (Snap, Flatpak) can read only
 * visible folders of the home folder, and the data folder is usually hidden.
 */
export function filePlaces({ platform, home }: OperatingSystem, dataDir: string): string[] {
  if (platform !== 'linux') return [dataDir]
  const isVisible = dataDir.startsWith(`${home}/`) && !dataDir.slice(home.length).includes('/.')
  return isVisible || !posix.isAbsolute(home) ? [dataDir] : [home, dataDir]
}

/**
 * Returns a page that redirects to the link. Other users can see the arguments of a process, so the browser
 * gets the path of this page instead of the link.
 */
export function redirectPage(link: string): string {
  const escaped = Bun.escapeHTML(link)
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${escaped}">
<title>Oncebox</title>
<p><a href="${escaped}">Open Oncebox</a></p>
`
}

/**
 * Creates a function that opens the browser, if there is one, without waiting for it. That function returns
 * another, which removes the file before the minute is over.
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

/** Creates a function that opens the browser at a URL that is no secret; false without a desktop session. */
export function createOpenPage(os: OperatingSystem) {
  return (url: string): boolean => {
    const [command, ...args] = openerOf(os) ?? []
    if (command === undefined) return false
    // The URL was printed as well, in case the program that opens it is missing.
    start(command, [...args, url]).once('error', () => undefined)
    return true
  }
}

/**
 * Writes a file that only this user can read and returns its path; null when no folder is writable. Replaces
 * the file of a killed server.
 */
function writePage(html: string, { folders, link }: { folders: string[]; link: string }): string | null {
  for (const folder of folders) {
    const path = `${folder}/oncebox-setup-${new URL(link).port || 'link'}.html`
    try {
      rmSync(path, { force: true })
      writeFileSync(path, html, { flag: 'wx', mode: 0o600 })
      return path
    } catch {
      // Continue with the next folder: this one may be read-only.
    }
  }
  return null
}

/** Starts a program that outlives this process and prints nothing to its terminal. */
function start(command: string, args: string[]): ChildProcess {
  const child = spawn(command, args, { detached: true, stdio: 'ignore' })
  child.unref()
  return child
}

/**
 * Whether a start without arguments is most likely a double click: on Windows and macOS, unless over SSH.
 */
export function isStartedByClick({ os }: { os: OperatingSystem }): boolean {
  return (os.platform === 'win32' || os.platform === 'darwin') && openerOf(os) !== null
}

type Window = { os: OperatingSystem; isTerminal: boolean; ask: (question: string) => Promise<string> }

/** Waits for Enter on Windows, where the window and its output would vanish when the program ends. */
export async function keepWindow({ os, isTerminal, ask }: Window): Promise<void> {
  if (os.platform === 'win32' && isTerminal) await ask('Press Enter to close this window. ')
}
