// Commands on the servers that this user knows and trusts.

import { normalFingerprint } from '../../client/authority.ts'
import { caSettings } from '../../settings/client.ts'
import { type Parsed, profileName } from '../../settings/parsers.ts'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { certificates } from '../paths.ts'

const heading = 'Logins:'

const LOGIN_EXAMPLES = `  oncebox login https://once.example
  oncebox login nas:5100 --profile home
  oncebox login https://nas --cacert our-authority.pem
  oncebox login https://oncebox.local:5100 --ca-fingerprint AB:CD:…
  pass show once/token | oncebox login https://once.example --token-stdin

To get a token, run "oncebox token create EMAIL" on the server's machine.`

const TRUST_EXAMPLES = `  sudo oncebox trust                       the server of this machine, for everybody on it
  oncebox trust --print > oncebox.pem      its authority alone, to carry elsewhere
  oncebox trust https://oncebox.local:5100 --fingerprint AB:CD:…
                                           the server of another machine

The server prints its fingerprint at the start. Compare it before you trust anything from a network.`

function fingerprint(text: string): Parsed<string> {
  return normalFingerprint(text) === null
    ? { problem: 'must be a SHA-256 fingerprint of 64 hexadecimal digits, such as AB:CD:…' }
    : { value: text }
}

export const LOGINS = [
  command({
    name: 'login',
    operands: 'URL',
    heading,
    summary: 'save a server and an API token for it',
    help:
      'Saves a server and an API token for it, and asks for the token without showing it. With --anonymous it saves no ' +
      'token, and pushes have no owner. The file, which it names, can be read only by you.',
    examples: LOGIN_EXAMPLES,
    flags: {
      profile: valued('profile <name>', 'Name for this login (default: "default")', profileName),
      tokenStdin: toggle('token-stdin', 'Read the token from standard input'),
      anonymous: toggle('anonymous', 'Save the server without a token'),
      caFingerprint: valued(
        'ca-fingerprint <sha256>',
        "Fingerprint of the server's own authority, instead of asking",
        fingerprint,
      ),
    },
    oneOf: [['anonymous', 'tokenStdin']],
    settings: { cacert: { ...caSettings.cacert, parse: certificates } },
    act: async (given) => (await import('../login.ts')).login(given),
  }),
  command({
    name: 'logout',
    heading,
    summary: 'forget a server and its token',
    help: 'Forgets a server and its token. The token itself stays valid until it is revoked on the server.',
    examples: '  oncebox logout --profile home',
    flags: { profile: valued('profile <name>', 'Name of the login (default: the first one)', profileName) },
    act: async (given) => (await import('../login.ts')).logout(given),
  }),
  command({
    name: 'logins',
    heading,
    summary: 'list the servers you are logged in to',
    help: 'Lists the servers you are logged in to. Commands use the first one by default.',
    act: async (given) => (await import('../login.ts')).listLogins(given),
  }),
  command({
    name: 'trust',
    operands: '[URL]',
    summary: "trust a server's own authority, so that browsers open it without a warning",
    help: "Makes this machine trust the authority of a server with --tls auto: that of this machine's server, or of the one at URL.",
    examples: TRUST_EXAMPLES,
    flags: {
      fingerprint: valued(
        'fingerprint <sha256>',
        'Fingerprint of the authority, instead of asking',
        fingerprint,
      ),
      print: toggle('print', 'Print the authority in PEM and change nothing'),
    },
    settings: { dataDir: settings.dataDir, tlsAuthorityKey: settings.tlsAuthorityKey },
    // The settings of this machine's service do not apply to another machine's server.
    isOnData: ([url]) => url === undefined,
    act: async (given) => (await import('../trust.ts')).trust(given),
  }),
]
