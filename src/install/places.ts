// The service manager of this system, and the paths of a service's executable, settings, data and log.

import type { OperatingSystem } from '../settings/parsers.ts'
import { LAUNCHD } from './launchd.ts'
import type { Scope, ServicePlaces, ServiceSystem } from './service-system.ts'
import { SYSTEMD } from './systemd.ts'
import { WINDOWS } from './windows.ts'

export function systemOf(platform: NodeJS.Platform): ServiceSystem {
  if (platform === 'win32') return WINDOWS
  return platform === 'darwin' ? LAUNCHD : SYSTEMD
}

/** `self` is the running executable. */
export function placesFor(scope: Scope, given: { os: OperatingSystem; self: string }): ServicePlaces {
  return systemOf(given.os.platform).placesFor(scope, given)
}
