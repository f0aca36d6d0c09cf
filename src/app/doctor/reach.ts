// Checks how the server is reached: asks a running one for its checks, else tries whether its ports are free.
// Also checks names and proxies.

import { createServer } from 'node:net'
import { platform } from 'node:os'
import { askHere } from '../../client/up.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { bindingsOf } from '../../http/door/listener.ts'
import { isUnixHost } from '../../http/door/unix-socket.ts'
import { API, FILES } from '../../http/urls.ts'
import { type Finding, fine, type Looked, problem, type Verdict, warning } from '../../operating/health.ts'
import { readServingNote, type ServingNote } from '../../store/folder/notes.ts'
import { isLoopback } from '../../text/local-names.ts'
import { splitAddress } from '../../text/server-address.ts'
import { explainListening } from '../listen-failures.ts'
import type { DoctorTarget, PlaceChecks } from './place.ts'

export const REACH_CHECKS: PlaceChecks = { ports: tryPorts, names: lookUpName, proxies: judgeProxies }

/** Returns the problems that the folder's running server reports; none if no server runs. */
export async function askServer({ config, isServed, version }: DoctorTarget): Promise<Finding[]> {
  if (!isServed) return []
  try {
    const note = readServingNote(config.dataDir)
    if (note === null) throw new Error('it has not noted where it listens')
    const { application_version: runs } = await askHere(note, API.version.path)
    const { ready, checks } = await askHere(note, FILES.ready.path)
    const judge = ready === true ? warning : problem
    const complaints = Object.entries(Object(checks))
      .filter(([, word]) => word !== 'ok')
      .map(([part, word]) => ({ part, ...judge(String(word)) }))
    const older = warning(
      `Version ${runs} is running, and this program is ${version}.`,
      'Restart the server.',
    )
    return [
      ...(runs === version ? [] : [{ part: 'version', ...older }]),
      { part: 'ports', ...judgeAddress(note, config.port) },
      ...complaints,
    ]
  } catch (cause) {
    const said = `The server of this folder does not answer: ${reasonOf(cause).replace(/\.$/, '')}.`
    return [{ part: 'ports', ...problem(said, 'See its log, and restart it.') }]
  }
}

function judgeAddress({ url, socket }: ServingNote, wanted: number): Verdict {
  const { protocol, port } = new URL(url)
  const asked = Number(port || (protocol === 'http:' ? 80 : 443))
  if (socket !== null || wanted === 0 || asked === wanted)
    return fine(`The server answers on ${socket ?? url}.`)
  return warning(
    `The server answers on ${url}, and not on port ${wanted} as the settings here say.`,
    'Give the flags and variables here that the server has.',
  )
}

async function tryPorts({ config, network, isServed }: DoctorTarget): Promise<Looked> {
  if (isServed) return null
  const { host, port, httpPort, metricsListen, receiveListen } = config
  const bindings = await bindingsOf(host, network.lookUp)
  const wanted = [
    ...bindings.map(({ address }) => ({ address, port, host, flag: '--port' })),
    ...bindings.map(({ address }) => ({ address, port: httpPort ?? 0, host, flag: '--http-port' })),
    { ...placeOf(metricsListen), flag: '--metrics-listen' },
    { ...placeOf(receiveListen), flag: '--receive-listen' },
  ].filter((one) => one.port !== 0 && !isUnixHost(one.address))
  const [taken] = (await Promise.all(wanted.map(tryPort))).filter((found) => found !== null)
  return taken ?? fine(`Port ${port} is free; no server runs.`)
}

function placeOf(listen: string | null) {
  const { address, port } = splitAddress(listen)
  return { address, host: address, port }
}

type PortToTry = { address: string; port: number; flag: string; host: string }

/** Returns null for a free port. */
async function tryPort(wanted: PortToTry): Promise<Looked> {
  const { address, port } = wanted
  const code = await new Promise<string | null>((resolve) => {
    const server = createServer().once('error', (cause) => resolve(codeOf(cause)))
    server.listen({ host: address, port }, () => server.close(() => resolve(null)))
  })
  // The server skips ::1 on a machine without IPv6.
  if (code === null || (address === '::1' && code !== 'EADDRINUSE')) return null
  const why = explainListening(code, { ...wanted, platform: platform(), program: process.execPath })
  const said = why ?? `Port ${port} on ${address} cannot be listened on (${code}).`
  // Joins the lines, because a finding is one line.
  return problem(said.replace(/:\n +/, ': ').replace(/\n +/g, '; '))
}

async function lookUpName({ config: { baseUrl }, network }: DoctorTarget): Promise<Looked> {
  if (baseUrl === null) return null
  const { hostname } = new URL(baseUrl)
  try {
    await network.lookUp(hostname.replace(/^\[|\]$/g, ''))
    return fine(`${hostname} of --base-url has an address.`)
  } catch {
    const said = `The name ${hostname} of --base-url has no address here: links would not work.`
    return warning(said, 'Enter it in the DNS or the hosts file, or correct --base-url.')
  }
}

function judgeProxies({ config: { baseUrl, trustedProxies, tls, host } }: DoctorTarget): Verdict {
  const anybody = trustedProxies.find((network) => /\/0$/.test(network))
  if (anybody !== undefined)
    return problem(
      `--trusted-proxy ${anybody} trusts every address to name the client of a request.`,
      'Name the addresses of your proxies alone.',
    )
  const isLocal = isLoopback(host) || isUnixHost(host)
  const isPublic = baseUrl !== null && !isLoopback(new URL(baseUrl).hostname)
  if (isLocal && isPublic && trustedProxies.length === 0)
    return warning(
      'The base URL is public and the server listens here alone, but no proxy is declared: all viewers count as one client.',
      `Start with --trusted-proxy ${isUnixHost(host) ? 'unix' : '127.0.0.1'}, or with the address of your proxy.`,
    )
  if (!isLocal && tls === 'off' && !baseUrl?.startsWith('https:'))
    return warning(
      'The network can read what is sent: there is no TLS.',
      'Use --lan or --tls, or put a proxy with TLS in front and name it in --base-url.',
    )
  return fine(trustedProxies.length === 0 ? 'None is needed.' : `Trusted: ${trustedProxies.join(', ')}.`)
}
