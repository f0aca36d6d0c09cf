// The unit that systemd runs Oncebox by: for the machine, or for one user.

import { LOG_FOLDER } from './service-system.ts'

export type UnitOptions = {
  executable: string
  envFile: string
  dataDir: string
  /** Folders outside /var/lib/oncebox that the server writes to. */
  writable: readonly string[]
  /** Whether the server listens on a port below 1024. */
  usesLowPort: boolean
}

/** The folder that systemd makes for the data, and closes to other users. */
export const STATE_FOLDER = '/var/lib/oncebox'

const headerFor = (edit: string) =>
  `# Written by "oncebox service install", which replaces it. Put your own lines into "${edit} oncebox".`

const RUNNING = [
  // The server notifies systemd when it is ready, and regularly that it is alive.
  'Type=notify',
  'NotifyAccess=main',
  'WatchdogSec=60',
  // Long, because migrating a large database takes time.
  'TimeoutStartSec=15min',
  'TimeoutStopSec=20',
  'ExecReload=/bin/kill -HUP $MAINPID',
  'Restart=on-failure',
  'RestartSec=2',
  'RestartPreventExitStatus=2',
]

/** Restrictions for units of one user as well, because none of them needs the rights of root. */
const CLOSED_FOR_ALL = [
  'UMask=0077',
  '# No core dump: it would write the memory, secrets and keys included, to the disk.',
  'LimitCORE=0',
  'LimitNOFILE=65536',
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged @resources',
  '# Backups give way to requests.',
  'SystemCallFilter=setpriority',
  'SystemCallErrorNumber=EPERM',
]

/** MemoryDenyWriteExecute is missing, because it would make the server seventeen times slower. */
const CLOSED = [
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'ProtectProc=invisible',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'PrivateIPC=yes',
  'PrivateMounts=yes',
  'RemoveIPC=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
]

/** The unit for the machine: starts with it, and runs as the user `oncebox`. */
export function systemUnit(options: UnitOptions): string {
  const { dataDir, writable, usesLowPort } = options
  const low = 'CAP_NET_BIND_SERVICE'
  return unit({
    before: ['Wants=network-online.target', 'After=network-online.target'],
    service: [
      ...start(options, [`Environment=${quote(`ONCEBOX_DATA_DIR=${dataDir}`)}`]),
      'User=oncebox',
      'Group=oncebox',
      ...(dataDir === STATE_FOLDER ? ['StateDirectory=oncebox', 'StateDirectoryMode=0700'] : []),
      // For a socket of a reverse proxy, whose user is a member of the group.
      'RuntimeDirectory=oncebox',
      'RuntimeDirectoryMode=0750',
      ...(writable.includes(LOG_FOLDER) ? ['LogsDirectory=oncebox', 'LogsDirectoryMode=0750'] : []),
      ...writable.filter((path) => path !== LOG_FOLDER).map((path) => `ReadWritePaths=${quote(`-${path}`)}`),
      ...CLOSED_FOR_ALL,
      ...CLOSED,
      // A port below 1024 needs a capability on the machine's network, which PrivateUsers= takes away.
      ...(usesLowPort
        ? [`AmbientCapabilities=${low}`, `CapabilityBoundingSet=${low}`]
        : ['CapabilityBoundingSet=', 'PrivateUsers=yes']),
    ],
    target: 'multi-user.target',
    edit: 'systemctl edit',
  })
}

/** The unit for one user: starts when the user signs in, or with the machine if the user may linger. */
export function userUnit(options: UnitOptions): string {
  const service = [...start(options, []), 'RuntimeDirectory=oncebox', ...CLOSED_FOR_ALL]
  return unit({ before: [], service, target: 'default.target', edit: 'systemctl --user edit' })
}

function start({ executable, envFile }: UnitOptions, variables: string[]): string[] {
  const words = [
    `ExecStart=${quote(executable)} serve`,
    ...variables,
    `EnvironmentFile=${escapePercent(envFile)}`,
  ]
  return [...words, ...RUNNING, '']
}

function unit(parts: { before: string[]; service: string[]; target: string; edit: string }): string {
  const { before, service, target, edit } = parts
  return [
    headerFor(edit),
    '[Unit]',
    'Description=Oncebox: secrets that are shared once',
    ...before,
    '',
    '[Service]',
    ...service,
    '',
    '[Install]',
    `WantedBy=${target}`,
    '',
  ].join('\n')
}

/** systemd reads % as the beginning of a specifier. */
function escapePercent(text: string): string {
  return text.replaceAll('%', '%%')
}

function quote(text: string): string {
  const escaped = escapePercent(text)
  return /^[\w./%@:+=-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`
}
