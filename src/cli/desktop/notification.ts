// Notifications of the desktop. Their text may be kept in a history, so it never holds a link or a secret.

import type { OperatingSystem } from '../../settings/parsers.ts'
import { printableLine } from '../../text/printable.ts'

const TIMEOUT_MS = 10_000
const MAX_CHARACTERS = 400

/** Returns what notifications need and which package provides it; null if nothing is missing. */
export function missingNotifier({ platform, env }: OperatingSystem): string | null {
  if (platform !== 'linux' || Bun.which('notify-send', { PATH: env.PATH ?? '' }) !== null) return null
  return 'There is no program for notifications: install the package libnotify-bin, which has notify-send.'
}

/** Shows a notification. Resolves to false where that is not possible. */
export async function notify(text: string, os: OperatingSystem): Promise<boolean> {
  const line = printableLine(text).slice(0, MAX_CHARACTERS)
  const { command, input } = notifierFor(line, os)
  try {
    const child = Bun.spawn(command, {
      ...{ env: { ...os.env }, stdin: Buffer.from(input), stdout: 'ignore', stderr: 'ignore' },
      timeout: TIMEOUT_MS,
    })
    return (await child.exited) === 0
  } catch {
    return false
  }
}

function notifierFor(line: string, { platform }: OperatingSystem): { command: string[]; input: string } {
  if (platform === 'darwin') {
    const quoted = `"${line.replace(/[\\"]/g, '\\$&')}"`
    return { command: ['osascript'], input: `display notification ${quoted} with title "Oncebox"\n` }
  }
  if (platform === 'win32')
    return {
      command: ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', '-'],
      input: balloon(line),
    }
  // Escape the text, because some desktops read it as markup.
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return { command: ['notify-send', '--app-name=Oncebox', '--', 'Oncebox', escaped], input: '' }
}

function balloon(line: string): string {
  const text = Buffer.from(line).toString('base64')
  return `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$icon = New-Object System.Windows.Forms.NotifyIcon
$icon.Icon = [System.Drawing.SystemIcons]::Information
$icon.Visible = $true
$text = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${text}'))
$icon.ShowBalloonTip(5000, 'Oncebox', $text, 'None')
Start-Sleep 5
$icon.Dispose()
`
}
