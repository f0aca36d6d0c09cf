// The property list that launchd (macOS) runs Oncebox by: a daemon of the machine, or an agent of one user.

export type JobOptions = {
  executable: string
  envFile: string
  dataDir: string
  logFile: string
  /** Null for an agent, which runs as the user who signed in. */
  user: string | null
}

export const LAUNCHD_LABEL = 'io.oncebox'

export function launchdJob({ executable, envFile, dataDir, logFile, user }: JobOptions): string {
  const words = [executable, 'serve', '--env-file', envFile]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    ...entry('Label', string(LAUNCHD_LABEL)),
    ...entry('ProgramArguments', `<array>${words.map(string).join('')}</array>`),
    ...entry('EnvironmentVariables', `<dict><key>ONCEBOX_DATA_DIR</key>${string(dataDir)}</dict>`),
    ...(user === null ? [] : [...entry('UserName', string(user)), ...entry('GroupName', string(user))]),
    ...entry('RunAtLoad', '<true/>'),
    // launchd waits between starts, because restarting at once does not help against wrong settings (exit code 2).
    ...entry('KeepAlive', '<dict><key>SuccessfulExit</key><false/></dict>'),
    ...entry('ThrottleInterval', '<integer>10</integer>'),
    ...entry('ExitTimeOut', '<integer>20</integer>'),
    ...entry('Umask', '<integer>63</integer>'),
    ...entry('ProcessType', string('Standard')),
    ...entry(
      'SoftResourceLimits',
      '<dict><key>Core</key><integer>0</integer><key>NumberOfFiles</key><integer>65536</integer></dict>',
    ),
    ...entry('HardResourceLimits', '<dict><key>Core</key><integer>0</integer></dict>'),
    ...entry('StandardOutPath', string(logFile)),
    ...entry('StandardErrorPath', string(logFile)),
    '</dict></plist>',
    '',
  ].join('\n')
}

function entry(key: string, value: string): string[] {
  return [`  <key>${key}</key>${value}`]
}

function string(text: string): string {
  return `<string>${escapeXml(text)}</string>`
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
