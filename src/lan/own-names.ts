// The names and addresses of this machine for its own certificate. None of them comes from a request.

import ipaddr from 'ipaddr.js'
import { isTopLevelDomain, LOCAL_DOMAINS } from '../text/local-names.ts'

type NamesOptions = {
  /** The machine's name, as the system tells it; may have a domain. */
  hostName: string
  /** The name that is announced on the local network, without `.local`. */
  mdns: string | null
  /** The setting: a name or an address. */
  host: string
  baseUrl: string | null
  receiveUrl: string | null
}

const DNS_NAME = /^(?=.{1,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/
/**
 * Returns names in lower case, the one that links most likely use first. Leaves out top-level domains: a
 * machine called `box` gets only box.local and box.lan, because an authority for `box` could vouch for every
 * site below .box.
 */
export function ownNames({ hostName, mdns, host, baseUrl, receiveUrl }: NamesOptions): string[] {
  const machine = hostName.toLowerCase().replace(/\.$/, '')
  const [label = ''] = machine.split('.')
  const announced = mdns === null ? [] : [`${mdns}.local`]
  const local = LOCAL_DOMAINS.map((domain) => `${label}.${domain}`)
  const linked = [baseUrl, receiveUrl].flatMap((url) => (url === null ? [] : [new URL(url).hostname]))
  const all = [...linked, ...announced, host.toLowerCase(), machine, label, ...local, 'localhost']
  return [...new Set(all)].filter(
    (name) => DNS_NAME.test(name) && !ipaddr.isValid(name) && !isTopLevelDomain(name),
  )
}

/** The addresses for a certificate, without those that need the name of an interface. */
export function ownAddresses(listAddresses: () => readonly string[]): string[] {
  const found = listAddresses().filter(ipaddr.isValid).map(normalAddress)
  const named = found.filter((address) => ipaddr.parse(address).range() !== 'linkLocal')
  return [...new Set(['127.0.0.1', '::1', ...named])]
}

/** Returns one spelling for all spellings of an address. Certificates spell IPv6 in full and in capitals. */
export function normalAddress(address: string): string {
  return ipaddr.process(address).toString()
}
