// swagger-client, a client generated from the reference, which honours its `servers`.

import { afterEach, describe, expect, test } from 'bun:test'
import SwaggerClient from 'swagger-client'
import { startOnSocket } from '../support/socket.ts'

let server: Awaited<ReturnType<typeof startOnSocket>> | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

describe.each([
  ['without a base URL', {}, ''],
  ['below a path', { 'base-url': 'http://127.0.0.1/team/box' }, '/team/box'],
  ['behind a proxy that strips the path', { 'base-url': 'http://127.0.0.1/team/box' }, ''],
])('%s', (_, flags, basePath) => {
  test.each(['/api/v2/openapi.json', '/api/v2/openapi.json.json'])(
    'a client of %s sends its requests to this server',
    async (path) => {
      server = await startOnSocket({ flags })
      const at = `${server.url}${basePath}`
      const apiToken = await server.addAccount('ann@example.org')
      const authorizations = { token: { value: apiToken } }
      const client = await SwaggerClient({ url: `${at}${path}`, authorizations })
      const run = (operationId: string, parameters = {}, requestBody?: object) =>
        client.execute({ operationId, parameters, requestBody })

      const version = await run('getVersion')
      expect([version.status, version.url]).toEqual([200, `${at}/api/v2/version`])
      const created = await run('createPush', {}, { push: { payload: 'secret', expire_after_views: 1 } })
      expect([created.status, created.url]).toEqual([201, `${at}/api/v2/pushes`])
      const { url_token } = created.body
      const retrieved = await run('retrievePush', { url_token })
      expect([retrieved.body.payload, retrieved.url]).toEqual(['secret', `${at}/api/v2/pushes/${url_token}`])
      const asked = await run('createRequest', {}, { request: { accept: ['text'], max_answers: 2 } })
      expect([asked.status, asked.url]).toEqual([201, `${at}/api/oncebox/requests`])
      const previous = await run('createPreviousPush', {}, { password: { payload: 'secret' } })
      expect([previous.status, previous.url]).toEqual([201, `${at}/p.json`])
    },
  )
})

test('a form with lists, sent as the document describes, is read in full', async () => {
  server = await startOnSocket({ flags: { 'webhook-hosts': 'hook.example' } })
  const authorizations = { token: { value: await server.addAccount('ann@example.org') } }
  const client = await SwaggerClient({ url: `${server.url}/api/v2/openapi.json`, authorizations })
  const send = (operationId: string, requestBody: object) =>
    client.execute({
      ...{ operationId, parameters: {}, requestBody },
      requestContentType: 'application/x-www-form-urlencoded',
    })
  const events = ['push.opened', 'push.locked']
  const made = await send('createWebhook', {
    'webhook[url]': 'https://hook.example',
    'webhook[events]': events,
  })
  expect([made.status, made.body.events]).toEqual([201, events])
  const asked = await send('createRequest', { 'request[accept]': ['text', 'files'] })
  expect([asked.status, asked.body.accept]).toEqual([201, ['text', 'files']])
})
