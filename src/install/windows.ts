// The service on Windows: a task of the Task Scheduler that runs at boot, or when one user signs in.

import { win32 } from 'node:path'
import type { OperatingSystem } from '../settings/parsers.ts'
import { defaultDataDir } from '../settings/setting.ts'
import {
  copyOf,
  fillTemplate,
  type InstallFacts,
  run,
  type Scope,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { InstallStep } from './steps.ts'
import task from './templates/oncebox-task.xml.template' with { type: 'text' }

const TASK = ['/TN', 'Oncebox']
const end: InstallStep = { ...run('schtasks', '/End', ...TASK), mayFail: true }
const start: InstallStep = run('schtasks', '/Run', ...TASK)

export const WINDOWS: ServiceSystem = {
  placesFor: (scope, { os }) => placesFor(scope, os),
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

function placesFor(scope: Scope, os: OperatingSystem): ServicePlaces {
  const { env, home } = os
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
    dataDir: isMachine ? win32.join(settings, 'data') : defaultDataDir(os),
    logFile: win32.join(settings, 'oncebox.log'),
  }
}

/** Give access to the folder only to the service, the system (S-1-5-18) and administrators (S-1-5-32-544). */
function installSteps(facts: InstallFacts): InstallStep[] {
  const { scope, places, envText, mayStart } = facts
  const isMachine = scope === 'machine'
  const settings = win32.dirname(places.envFile)
  const rights = ['*S-1-5-18', '*S-1-5-32-544', `*${LOCAL_SERVICE}`].flatMap((who) => [
    '/grant:r',
    `${who}:(OI)(CI)F`,
  ])
  const text = windowsTask({ ...places, user: isMachine ? null : facts.userName })
  return [
    copyOf(facts),
    { do: 'folder', path: settings, mode: 0o700 },
    ...(isMachine ? [run('icacls', settings, '/inheritance:r', ...rights)] : []),
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    { do: 'write', path: places.definition, mode: 0o600, text, encoding: 'utf16le' },
    run('schtasks', '/Create', '/F', ...TASK, '/XML', places.definition),
    ...(mayStart ? [{ ...end, onlyIf: 'changed' } as InstallStep, start] : []),
  ]
}

type TaskOptions = Pick<ServicePlaces, 'executable' | 'envFile'> & {
  /** `DOMAIN\name` of the one user that the task is for; null for the machine. */
  user: string | null
}

/** The Windows account for services that need few rights. */
const LOCAL_SERVICE = 'S-1-5-19'

export function windowsTask({ executable, envFile, user }: TaskOptions): string {
  const id = `<UserId>${Bun.escapeHTML(user ?? LOCAL_SERVICE)}</UserId>`
  const [trigger, principal] =
    user === null
      ? ['<BootTrigger><Enabled>true</Enabled></BootTrigger>', id]
      : [
          `<LogonTrigger><Enabled>true</Enabled>${id}</LogonTrigger>`,
          `${id}<LogonType>InteractiveToken</LogonType>`,
        ]
  const paths = { executable: Bun.escapeHTML(executable), envFile: Bun.escapeHTML(envFile) }
  return fillTemplate(task, { ...paths, trigger, principal }).replaceAll('\n', '\r\n')
}
