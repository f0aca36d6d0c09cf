// Settings of TLS, and of how other machines on the local network find this one.

import { hostLabel, orOff, port } from '../parsers.ts'
import { choices, file, off, section } from '../setting.ts'

export const lanSettings = section('TLS and the local network', {
  lan: {
    ...off,
    help: 'Serve the local network: sets --host 0.0.0.0, --tls auto, --mdns oncebox and --http-port 5180, unless you set them',
  },
  tls: {
    ...choices('off', 'auto', 'files'),
    default: 'off',
    lan: 'auto',
    help: 'Serve https: auto makes an authority and certificates of its own, files takes --tls-cert and --tls-key',
  },
  tlsCert: { ...file, help: 'Certificate and its chain in PEM, for --tls files; read again when it changes' },
  tlsKey: { ...file, help: 'Private key of the certificate in PEM, for --tls files' },
  tlsAuthorityKey: {
    ...file,
    defaultWords: 'tls-authority.pem in the data folder',
    help: "File of the server's own authority and its key, for --tls auto, to store it apart from the data",
  },
  httpPort: {
    placeholder: 'number|off',
    parse: orOff(port),
    default: 'off',
    lan: '5180',
    help: 'With TLS, a port for plain http that redirects to https and helps devices trust the authority',
  },
  mdns: {
    placeholder: 'name|off',
    parse: orOff(hostLabel),
    default: 'off',
    lan: 'oncebox',
    help: 'Announce this server on the local network as NAME.local',
  },
})
