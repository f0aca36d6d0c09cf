// The service on Windows: a task of the Task Scheduler, at the start of the machine or when one user signs in.

import { win32 } from 'node:path'
import type { Place } from '../settings/parsers.ts'
import { defaultDataDir } from '../settings/setting.ts'
import {
  copyOf,
  escapeXml,
  type InstallFacts,
  run,
  type Scope,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { Step } from './steps.ts'

const TASK = ['/TN', 'Oncebox']
const end: Step = { ...run('schtasks', '/End', ...TASK), mayFail: true }
const start: Step = run('schtasks', '/Run', ...TASK)

export const WINDOWS: ServiceSystem = {
  placesFor: (scope, { place }) => placesFor(scope, place),
  installSteps,
  uninstallSteps: ({ places }) => [
    end,
    { ...run('schtasks', '/Delete', '/F', ...TASK), mayFail: true },
    { do: 'remove', path: places.definition },
  ],
  restartSteps: () => [end, start],
  restartCommand: () => 'schtasks /End /TN Oncebox & schtasks /Run /TN Oncebox',
  stateCommand: () => ['schtasks', '/Query', ...TASK, '/FO', 'LIST'],
  running: /\bStatus:\s+Running\b/i,
}

function placesFor(scope: Scope, place: Place): ServicePlaces {
  const { env, home } = place
  const local = env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  const isMachine = scope === 'machine'
  const settings = isMachine
    ? win32.join(env.ProgramData || 'C:\\ProgramData', 'Oncebox')
    : win32.join(local, 'Oncebox Service')
  const programs = isMachine ? env.ProgramFiles || 'C:\\Program Files' : win32.join(local, 'Programs')
  return {
    executable: win32.join(programs, 'Oncebox', 'oncebox.exe'),
    envFile: win32.join(settings, 'oncebox.env'),
    definition: win32.join(settings, 'oncebox-task.xml'),
    dataDir: isMachine ? win32.join(settings, 'data') : defaultDataDir(place),
    logFile: win32.join(settings, 'oncebox.log'),
  }
}

/** Only the service, the system (S-1-5-18) and administrators (S-1-5-32-544) may enter the folder. */
function installSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, mayStart } = facts
  const isMachine = scope === 'machine'
  const settings = win32.dirname(places.envFile)
  const rights = ['*S-1-5-18', '*S-1-5-32-544', `*${LOCAL_SERVICE}`].flatMap((who) => [
    '/grant:r',
    `${who}:(OI)(CI)F`,
  ])
  const task = windowsTask({ ...places, user: isMachine ? null : facts.userName })
  return [
    copyOf(facts),
    { do: 'folder', path: settings, mode: 0o700 },
    ...(isMachine ? [run('icacls', settings, '/inheritance:r', ...rights)] : []),
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    { do: 'write', path: places.definition, mode: 0o600, text: task, encoding: 'utf16le' },
    run('schtasks', '/Create', '/F', ...TASK, '/XML', places.definition),
    ...(mayStart ? [{ ...end, onlyIf: 'changed' } as Step, start] : []),
  ]
}

type TaskOptions = {
  executable: string
  envFile: string
  /** `DOMAIN\name` of the one user that the task is for; null for the machine. */
  user: string | null
}

/** The Windows account for services that need few rights. */
const LOCAL_SERVICE = 'S-1-5-19'
const FOREVER = 'PT0S'

export function windowsTask({ executable, envFile, user }: TaskOptions): string {
  const id = user === null ? LOCAL_SERVICE : escapeXml(user)
  const trigger =
    user === null
      ? '<BootTrigger><Enabled>true</Enabled></BootTrigger>'
      : `<LogonTrigger><Enabled>true</Enabled><UserId>${id}</UserId></LogonTrigger>`
  const logon = user === null ? '' : '<LogonType>InteractiveToken</LogonType>'
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo><Description>Oncebox: secrets that are shared once</Description></RegistrationInfo>',
    `  <Triggers>${trigger}</Triggers>`,
    `  <Principals><Principal id="Author"><UserId>${id}</UserId>${logon}<RunLevel>LeastPrivilege</RunLevel></Principal></Principals>`,
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <StartWhenAvailable>true</StartWhenAvailable>',
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>',
    `    <ExecutionTimeLimit>${FOREVER}</ExecutionTimeLimit>`,
    '    <Priority>6</Priority>',
    '  </Settings>',
    '  <Actions Context="Author"><Exec>',
    `    <Command>${escapeXml(executable)}</Command>`,
    `    <Arguments>serve --env-file &quot;${escapeXml(envFile)}&quot;</Arguments>`,
    '  </Exec></Actions>',
    '</Task>',
    '',
  ].join('\r\n')
}
