// Explains why a server cannot listen on an address, with the remedy, for a start and for the doctor.

const FIRST_FREE_PORT = 1024

type ListenRefusal = {
  address: string
  port: number
  /** The setting that names the address. */
  host: string
  /** The flag that names the port. */
  flag: string
  platform: NodeJS.Platform
  /** The command that starts this program. */
  program: string
}

/** Explains an error code of the system; returns null for any other. */
export function explainListening(code: string, refused: ListenRefusal): string | null {
  return EXPLANATIONS[code]?.(refused) ?? null
}

const EXPLANATIONS: Record<string, (refused: ListenRefusal) => string> = {
  EADDRINUSE: ({ port, address, flag }) =>
    `Port ${port} on ${address} is in use: stop what uses it, or choose another ${flag}.`,
  EACCES: explainPrivilege,
  EPERM: explainPrivilege,
  EADDRNOTAVAIL: explainAddress,
  EINVAL: explainAddress,
  ENOENT: explainSocketFolder,
  ENOTDIR: explainSocketFolder,
  EAFNOSUPPORT: ({ address }) =>
    `This process may not use ${address}, which others on this machine may: allow it (AF_INET6 in a systemd unit), ` +
    'or listen on one address alone, such as --host 127.0.0.1.',
}

function explainSocketFolder({ host }: ListenRefusal): string {
  return `The folder of the socket ${host} does not exist: make it (RuntimeDirectory= in a systemd unit), or choose another --host.`
}

function explainAddress({ address, host, flag }: ListenRefusal): string {
  const other = flag.endsWith('-listen') ? flag : '--host'
  const named =
    address === host || host.toLowerCase() === 'localhost' ? address : `${host} is ${address}, which`
  return `${named} is not an address of this machine: choose another ${other}.`
}

/** On Linux, only root and programs with a capability may listen on a low port. */
function explainPrivilege({ port, address, flag, platform, program }: ListenRefusal): string {
  const refused = `Listening on port ${port} of ${address} is not permitted`
  const free = `choose a ${flag} from ${FIRST_FREE_PORT} on.`
  if (platform !== 'linux' || port >= FIRST_FREE_PORT) return `${refused}: ${free}`
  return `${refused}: ports below ${FIRST_FREE_PORT} need a right. Do one of these:
  in a systemd unit: AmbientCapabilities=CAP_NET_BIND_SERVICE, the same in CapabilityBoundingSet, no PrivateUsers
  for this program, again after each upgrade: sudo setcap cap_net_bind_service=+ep ${program}
  for every program: sudo sysctl net.ipv4.ip_unprivileged_port_start=${port}
  or ${free}`
}
