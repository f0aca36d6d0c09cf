// Runs `oidc-provider` on loopback in a separate process: `bun honest-provider.ts CALLBACK` prints its
// issuer. Its form accepts any name, and signs in `NAME@example.org`.

import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [callback = ''] = process.argv.slice(2)
const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'oncebox',
        client_secret: 'a secret of the client',
        redirect_uris: [callback],
        backchannel_logout_uri: callback.replace(/callback$/, 'logout'),
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'], profile: [] },
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        ...{ sub: id, email: `${id}@example.org`, email_verified: true },
        groups: id === 'root' ? ['admins'] : [],
      }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['a key of the cookies'] },
  })
  server.on('request', provider.callback())
  console.log(issuer)
})
