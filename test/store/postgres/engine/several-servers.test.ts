// An address with several servers: which one is tried when, and whose connection is used.

import { expect, test } from 'bun:test'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import {
  createServers,
  NoServerError,
  type Server,
  tryServers,
} from '../../../../src/store/postgres/engine/servers.ts'
import { explainUnreachable } from '../../../../src/store/postgres/reaching/unreachable.ts'

const address = parseDatabaseAddress('postgres://u:s3cret@a,b,c/d')
if (address === null || 'problem' in address) throw new Error('no address')

function serverOf(name: string): Server {
  const open = () => {
    throw new Error('nothing is opened here')
  }
  return { name, address: { ...(address as Server['address']), host: name, others: [] }, open }
}

const [a, b, c] = [serverOf('a'), serverOf('b'), serverOf('c')]
const never = () => new Promise<never>(() => undefined)
const unwanted = (made: unknown) => {
  throw new Error(`${made} was discarded`)
}

test('the server in use is tried first, the others in the order of the address, and a change is told', () => {
  const told: string[] = []
  const servers = createServers([a, b, c], ({ name }) => told.push(name))
  expect(servers.inOrder()).toEqual([a, b, c])
  for (const server of [a, c, c]) servers.use(server)
  expect(servers.inOrder()).toEqual([c, a, b])
  expect([servers.current(), told]).toEqual([c, ['a', 'c']])
})

test('the first one that can be used is used, and no other is tried', async () => {
  const tried: string[] = []
  const attempt = async ({ name }: Server) => {
    tried.push(name)
    if (name === 'a') throw new Error('refused')
    return name
  }
  expect(await tryServers([a, b, c], attempt, unwanted)).toEqual({ server: b, made: 'b' })
  expect(tried).toEqual(['a', 'b'])
})

test('a server that swallows everything holds up nobody', async () => {
  const attempt = ({ name }: Server) => (name === 'c' ? Promise.resolve(name) : never())
  expect(await tryServers([a, b, c], attempt, unwanted)).toEqual({ server: c, made: 'c' })
})

test('what a slow server makes after another one was used is discarded', async () => {
  const slow = Promise.withResolvers<string>()
  const attempt = ({ name }: Server) => (name === 'a' ? slow.promise : Promise.resolve(name))
  const discarded: string[] = []
  expect(await tryServers([a, b], attempt, (made) => discarded.push(made))).toEqual({ server: b, made: 'b' })
  slow.resolve('late')
  await new Promise((resolve) => setImmediate(resolve))
  expect(discarded).toEqual(['late'])
})

test('where none can be used, each is named with its reason, and nobody learns the password', async () => {
  const codes: Record<string, string> = {
    a: 'CONNECTION_REFUSED',
    b: 'CONNECTION_STALLED',
    c: 'TLS_NOT_AVAILABLE',
  }
  const attempt = async ({ name }: Server) => {
    throw Object.assign(new Error(`failed at ${name}`), { code: `ERR_POSTGRES_${codes[name]}` })
  }
  const cause = await tryServers([a, b, c], attempt, unwanted).catch((cause: unknown) => cause)
  expect(cause).toBeInstanceOf(NoServerError)
  const { error, mayPass } = explainUnreachable(address, cause) ?? {}
  expect(error?.message).toStartWith('postgres://a:5432,b:5432,c:5432/d: none of these servers can be used. ')
  for (const words of ['a: nothing answers there', 'b: it does not answer', 'c: it does not speak TLS'])
    expect(error?.message).toContain(words)
  expect(error?.message).not.toContain('s3cret')
  expect(mayPass).toBe(true)
})
