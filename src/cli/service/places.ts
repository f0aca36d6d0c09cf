// The paths of a service's executable, settings, data and log, on each system, for the machine or for one user.

import { posix, win32 } from 'node:path'
import type { Place } from '../../settings/parsers.ts'
import { defaultDataDir } from '../../settings/setting.ts'
import { LAUNCHD_LABEL } from './launchd-job.ts'
import { LOG_FOLDER, STATE_FOLDER } from './systemd-unit.ts'

export type Scope = 'machine' | 'user'

export type ServicePlaces = {
  executable: string
  envFile: string
  /** Unit, property list or task description. */
  definition: string
  /** The data folder, unless the settings name another one. */
  dataDir: string
  /** Null when the system keeps the log. */
  logFile: string | null
}

/** The path of an executable that a system package has installed, and keeps up to date. */
export const PACKAGED = '/usr/bin/oncebox'

/** `self` is the running executable. */
export function placesFor(scope: Scope, { place, self }: { place: Place; self: string }): ServicePlaces {
  if (place.platform === 'win32') return windowsPlaces(scope, place)
  return place.platform === 'darwin' ? macPlaces(scope, place) : linuxPlaces(scope, { place, self })
}

function linuxPlaces(scope: Scope, { place, self }: { place: Place; self: string }): ServicePlaces {
  if (scope === 'machine')
    return {
      executable: self === PACKAGED ? self : '/usr/local/bin/oncebox',
      envFile: '/etc/oncebox/oncebox.env',
      definition: '/etc/systemd/system/oncebox.service',
      dataDir: STATE_FOLDER,
      logFile: null,
    }
  const { env, home } = place
  const named = env.XDG_CONFIG_HOME ?? ''
  const config = posix.isAbsolute(named) ? named : posix.join(home, '.config')
  return {
    executable: self === PACKAGED ? self : posix.join(home, '.local', 'bin', 'oncebox'),
    envFile: posix.join(config, 'oncebox', 'oncebox.env'),
    definition: posix.join(config, 'systemd', 'user', 'oncebox.service'),
    dataDir: defaultDataDir(place),
    logFile: null,
  }
}

function macPlaces(scope: Scope, place: Place): ServicePlaces {
  const library = scope === 'machine' ? '/Library' : posix.join(place.home, 'Library')
  const support = posix.join(library, 'Application Support', 'Oncebox')
  const isMachine = scope === 'machine'
  return {
    executable: isMachine ? '/usr/local/bin/oncebox' : posix.join(place.home, '.local', 'bin', 'oncebox'),
    envFile: isMachine
      ? '/etc/oncebox/oncebox.env'
      : posix.join(place.home, '.config', 'oncebox', 'oncebox.env'),
    definition: posix.join(library, isMachine ? 'LaunchDaemons' : 'LaunchAgents', `${LAUNCHD_LABEL}.plist`),
    dataDir: isMachine ? '/usr/local/var/oncebox' : support,
    logFile: isMachine ? posix.join(LOG_FOLDER, 'oncebox.log') : posix.join(library, 'Logs', 'oncebox.log'),
  }
}

function windowsPlaces(scope: Scope, place: Place): ServicePlaces {
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
