// The entry "Share through Oncebox" in the menus of file managers: which files it needs, in the person's own
// folders.

import { posix, win32 } from 'node:path'
import type { OperatingSystem } from '../../settings/parsers.ts'
import { shellWord } from '../format.ts'

export type MenuFile = { path: string; content: string; mode: number; isFor: string }

/** Marks files that may be replaced and removed. */
export const MARK = 'Made by "oncebox desktop install".'

const NAME = 'Share through Oncebox'

const NAMES = [
  `Name=${NAME}`,
  'Name[de]=Über Oncebox teilen',
  'Name[fr]=Partager avec Oncebox',
  'Name[es]=Compartir con Oncebox',
  'Name[ja]=Oncebox で共有',
  'Name[ar]=مشاركة عبر Oncebox',
].join('\n')

/** `self`: the command that starts oncebox. Returns no files for macOS. */
export function menuFiles(os: OperatingSystem, self: readonly string[]): MenuFile[] {
  if (os.platform === 'darwin') return []
  return os.platform === 'win32' ? windowsFiles(os, self) : linuxFiles(os, self)
}

function linuxFiles({ env, home }: OperatingSystem, self: readonly string[]): MenuFile[] {
  const given = env.XDG_DATA_HOME ?? ''
  const data = posix.isAbsolute(given) ? given : posix.join(home, '.local', 'share')
  const script = posix.join(data, 'oncebox', 'share-files')
  const run = `${quoteExec(script)} %F`
  return [
    { path: script, content: shareScript(self), mode: 0o700, isFor: 'the menus below' },
    {
      path: posix.join(data, 'nautilus', 'scripts', NAME),
      content: shareScript(self),
      ...{ mode: 0o700, isFor: 'Nautilus (Scripts)' },
    },
    {
      path: posix.join(data, 'Thunar', 'sendto', 'oncebox.desktop'),
      content: `# ${MARK}\n[Desktop Entry]\nType=Application\n${NAMES}\nIcon=document-send\nExec=${run}\n`,
      ...{ mode: 0o600, isFor: 'Thunar (Send To)' },
    },
    {
      path: posix.join(data, 'kio', 'servicemenus', 'oncebox.desktop'),
      content: `# ${MARK}
[Desktop Entry]
Type=Application
${NAMES}
NoDisplay=true
Exec=${run}
MimeType=application/octet-stream;
Actions=oncebox;

[Desktop Action oncebox]
${NAMES}
Icon=document-send
Exec=${run}
`,
      // Dolphin asks before it runs an action of a file that is not executable.
      ...{ mode: 0o700, isFor: 'Dolphin' },
    },
  ]
}

/**
 * Returns the script behind the menu. It handles file names that begin with a dash; "-" alone would mean
 * standard input.
 */
function shareScript(self: readonly string[]): string {
  return `#!/bin/sh
# ${MARK}
for file do
  case $file in /*) ;; *) file=./$file ;; esac
  set -- "$@" "--file=$file"
  shift
done
exec ${self.map(shellWord).join(' ')} push --copy --notify "$@"
`
}

/** Quotes a path for the key Exec, first as an argument, then as a string (Desktop Entry Specification). */
function quoteExec(path: string): string {
  const argument = path.replace(/[\\"`$]/g, '\\$&').replaceAll('%', '%%')
  return `"${argument.replaceAll('\\', '\\\\')}"`
}

function windowsFiles({ env, home }: OperatingSystem, self: readonly string[]): MenuFile[] {
  const roaming = env.APPDATA || win32.join(home, 'AppData', 'Roaming')
  const local = env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  const command = self.map((word) => `'${word.replaceAll("'", "''")}'`).join(' ')
  return [
    {
      path: win32.join(local, 'Oncebox', 'share-files.ps1'),
      content: `# ${MARK}\n$files = $args | ForEach-Object { "--file=$_" }\n& ${command} push --copy --notify @files\n`,
      ...{ mode: 0o600, isFor: 'the menu below' },
    },
    {
      path: win32.join(roaming, 'Microsoft', 'Windows', 'SendTo', `${NAME}.lnk`),
      content: '',
      ...{ mode: 0o600, isFor: 'the Explorer (Send To)' },
    },
  ]
}

/** Returns the PowerShell that makes the shortcut, for the standard input of PowerShell. */
export function shortcutScript(shortcut: string, script: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
  const words = `-NoProfile -ExecutionPolicy Bypass -WindowStyle Hidden -File "${script}"`
  return `$link = (New-Object -ComObject WScript.Shell).CreateShortcut(${quote(shortcut)})
$link.TargetPath = 'powershell.exe'
$link.Arguments = ${quote(words)}
$link.Description = ${quote(MARK)}
$link.WindowStyle = 7
$link.Save()
`
}
