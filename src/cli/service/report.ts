// Describes a service to people: its address, its folders, its log and the commands that control it.

import { join } from 'node:path'
import type { Config } from '../../settings/table.ts'
import type { Shell } from '../shell.ts'
import { alignColumns } from '../table.ts'
import type { Scope, ServicePlaces } from './places.ts'

export type Reported = {
  scope: Scope
  places: Pick<ServicePlaces, 'envFile' | 'logFile' | 'executable'>
  config: Pick<Config, 'dataDir' | 'host' | 'port' | 'baseUrl' | 'tls' | 'mdns' | 'logFile' | 'backupDir'>
  shell: Pick<Shell, 'place' | 'network'>
}

/** A line each. */
export function serviceLines({ scope, places, config, shell }: Reported): string[] {
  const { platform } = shell.place
  return alignColumns(
    ['Open:', addressOf(config, shell)],
    [
      ['Data:', config.dataDir],
      ...(config.backupDir === null ? [] : [['Backups:', config.backupDir]]),
      ['Settings:', `${places.envFile} (then: ${restartCommand(scope, platform)})`],
      [
        'Log:',
        config.logFile ?? places.logFile ?? `journalctl ${scope === 'user' ? '--user ' : ''}-u oncebox`,
      ],
      ['Program:', places.executable],
      [
        'Administrator:',
        `the link in ${join(config.dataDir, 'setup-link')}, or "${sudo(scope, platform)}oncebox user add EMAIL --admin"`,
      ],
    ],
  )
}

/** The address to open in a browser. A server for the whole network gets this machine's name. */
export function addressOf(
  { host, port, baseUrl, tls, mdns }: Reported['config'],
  { network }: Pick<Shell, 'network'>,
): string {
  if (baseUrl !== null) return baseUrl
  if (host.startsWith('unix:')) return `${host}, behind a reverse proxy`
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const name = mdns !== null ? `${mdns}.local` : isEverywhere ? network.hostName() : host
  const scheme = tls === 'off' ? 'http' : 'https'
  const isUsual = port === (tls === 'off' ? 80 : 443)
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}${isUsual ? '' : `:${port}`}`
}

export function restartCommand(scope: Scope, platform: NodeJS.Platform): string {
  if (platform === 'win32') return 'schtasks /End /TN Oncebox & schtasks /Run /TN Oncebox'
  if (platform === 'darwin')
    return `${sudo(scope, platform)}launchctl kickstart -k ${scope === 'machine' ? 'system' : 'gui/$UID'}/io.oncebox`
  return scope === 'machine' ? 'sudo systemctl restart oncebox' : 'systemctl --user restart oncebox'
}

function sudo(scope: Scope, platform: NodeJS.Platform): string {
  return scope === 'machine' && platform !== 'win32' ? 'sudo ' : ''
}
