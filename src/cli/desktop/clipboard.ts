// The clipboard of the desktop, through the program that the system provides. Content is passed on standard
// input, because other users can see arguments.

import { closeSync, openSync, writeSync } from 'node:fs'
import type { OperatingSystem } from '../../settings/parsers.ts'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'

/** `clear` empties the clipboard; it gets an empty text. `packageName` has the program. */
type Tool = Record<'copy' | 'paste' | 'clear', string[]> & { packageName: string }

export type Clipboard = {
  /**
   * Copies a text. `isConcealed`: marks it, where the system can, so that clipboard histories leave it out.
   */
  copy(text: string, options?: { isConcealed: boolean }): Promise<void>
  /** Resolves to an empty text if the clipboard holds none. */
  paste(): Promise<string>
  /** Empties the clipboard if it still holds the text. */
  clearIf(text: string): Promise<void>
}

/** The commands are split at spaces. */
function tool(packageName: string, copy: string, paste: string, clear = copy): Tool {
  return { packageName, copy: copy.split(' '), paste: paste.split(' '), clear: clear.split(' ') }
}

const WAYLAND = tool('wl-clipboard', 'wl-copy', 'wl-paste --no-newline', 'wl-copy --clear')
const X11 = [
  tool('xclip', 'xclip -selection clipboard', 'xclip -selection clipboard -out'),
  tool('xsel', 'xsel --clipboard --input', 'xsel --clipboard --output', 'xsel --clipboard --clear'),
]
const MACOS = tool('macOS', 'pbcopy', 'pbpaste')
const POWERSHELL = 'powershell.exe -NoProfile -NonInteractive -Command Get-Clipboard -Raw'
const WINDOWS = tool('Windows', 'clip.exe', POWERSHELL)

/** Returns the programs that fit the session, the best first. */
function toolsFor({ platform, env }: OperatingSystem): Tool[] {
  if (platform === 'darwin') return [MACOS]
  if (platform === 'win32') return [WINDOWS]
  return [
    ...(env.WAYLAND_DISPLAY ? [WAYLAND] : []),
    ...(env.DISPLAY ? X11 : []),
    ...(env.WSL_DISTRO_NAME ? [WINDOWS] : []),
  ]
}

/** Returns why no clipboard program is found, and which package provides one; null if one is found. */
export function missingClipboard(os: OperatingSystem): string | null {
  const tools = toolsFor(os)
  if (tools.some((tool) => isThere(tool, os))) return null
  const [tool] = tools
  if (tool === undefined) return 'There is no clipboard: this is no session of a desktop.'
  return `There is no program for the clipboard: install the package ${tool.packageName}, which has ${tool.copy[0]}.`
}

const isThere = ({ copy }: Tool, { env }: OperatingSystem) =>
  Bun.which(copy[0] ?? '', { PATH: env.PATH ?? '' }) !== null

type OpenOptions = { mayAskTerminal?: boolean }

/**
 * Opens the clipboard. Throws CommandFailure if no clipboard can be read and emptied. With `mayAskTerminal`
 * it then copies through the terminal instead, which can neither be read nor emptied.
 */
export function openClipboard(shell: Shell, { mayAskTerminal = false }: OpenOptions = {}): Clipboard {
  const { os } = shell
  const tool = toolsFor(os).find((one) => isThere(one, os))
  if (tool === undefined && mayAskTerminal && shell.isTerminal) return terminalClipboard(shell)
  if (tool === undefined) throw new CommandFailure(missingClipboard(os) ?? '')
  const run = (command: string[], input = '') => runTool(command, { input, os })
  const paste = () => run(tool.paste).catch(() => '')
  const { copy: copyCommand } = tool
  async function copy(text: string, { isConcealed } = { isConcealed: false }): Promise<void> {
    const concealed = isConcealed && (await copyConcealed(copyCommand[0] ?? '', text, run))
    if (!concealed) await run(copyCommand, encode(text, tool === WINDOWS))
  }
  return {
    copy,
    paste,
    clearIf: async (text) => {
      if (withoutEnd(await paste()) !== withoutEnd(text)) return
      await run(tool.clear)
    },
  }
}

/** Windows changes line breaks, and may add one. */
function withoutEnd(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n/g, '\n')
    .replace(/\n$/, '')
}

/** `clip.exe` recognizes UTF-16 by its mark. */
function encode(text: string, isWindows: boolean): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
  return isWindows && !/^[\x00-\x7f]*$/.test(text) ? `\ufeff${text}` : text
}

type RunTool = (command: string[], input?: string) => Promise<string>

/** Resolves to false if the system has no mark for secrets, or the program does not support it. */
async function copyConcealed(program: string, text: string, run: RunTool): Promise<boolean> {
  try {
    if (program === 'wl-copy') await run(['wl-copy', '--sensitive'], text)
    else if (program === 'pbcopy') await run(['osascript', '-l', 'JavaScript'], concealedOnMacos(text))
    else return false
    return true
  } catch {
    return false
  }
}

/** Matches the clipboard mark that histories on macOS respect (nspasteboard.org). */
function concealedOnMacos(text: string): string {
  return `ObjC.import('AppKit')
const board = $.NSPasteboard.generalPasteboard
board.clearContents
board.setStringForType($(${JSON.stringify(text)}), 'public.utf8-plain-text')
board.setStringForType($(''), 'org.nspasteboard.ConcealedType')
`
}

const TIMEOUT_MS = 5000

async function runTool(
  command: string[],
  { input, os }: { input: string; os: OperatingSystem },
): Promise<string> {
  const isWide = input.startsWith('\ufeff')
  const child = Bun.spawn(command, {
    env: { ...os.env },
    // A program that serves the clipboard stays in the background, so it must not keep this process's output
    // open.
    ...{ stdin: Buffer.from(input, isWide ? 'utf16le' : 'utf8'), stderr: 'ignore', timeout: TIMEOUT_MS },
    stdout: command.some((word) => /paste|-out|Get-Clipboard/.test(word)) ? 'pipe' : 'ignore',
  })
  const [output, code] = await Promise.all([
    child.stdout === undefined ? '' : new Response(child.stdout).text(),
    child.exited,
  ])
  if (code === 0) return output
  throw new CommandFailure(`The clipboard refused: ${command[0]} ended with ${code}.`)
}

/** Asks the terminal to copy a link (OSC 52). The clipboard cannot be read, or reliably emptied, that way. */
function terminalClipboard({ say }: Shell): Clipboard {
  return {
    copy: async (link) => {
      const terminal = openSync('/dev/tty', 'w')
      writeSync(terminal, `\x1b]52;c;${Buffer.from(link).toString('base64')}\x07`)
      closeSync(terminal)
      say('The terminal was asked to put the link on the clipboard; not every terminal does.')
    },
    paste: async () => '',
    clearIf: async () => undefined,
  }
}
