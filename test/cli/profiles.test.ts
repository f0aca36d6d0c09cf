// The server that a command calls by default.

import { expect, test } from 'bun:test'
import { chooseServer } from '../../src/cli/profiles.ts'

const NOTHING = { link: null, server: null, profile: null, apiToken: null }

test('without a login it is the address of a default server, not a name', () => {
  expect(chooseServer([], NOTHING)).toMatchObject({ server: 'http://127.0.0.1:5100', apiToken: null })
})

test('a link without a scheme means the known server with that host', () => {
  const home = { name: 'home', server: 'http://once.example', apiToken: 'obx_1', caCerts: 'PEM' }
  const wanted = { ...NOTHING, link: 'https://once.example' }
  expect(chooseServer([home], { ...wanted, isSchemeGuessed: true })).toEqual({
    server: 'http://once.example',
    apiToken: 'obx_1',
    caCerts: 'PEM',
    authority: null,
    endToEnd: false,
  })
  expect(chooseServer([home], { ...wanted, isSchemeGuessed: false })).toEqual({
    server: 'https://once.example',
    apiToken: null,
    caCerts: null,
    authority: null,
    endToEnd: false,
  })
  const elsewhere = { ...wanted, link: 'https://evil.example', isSchemeGuessed: true }
  expect(chooseServer([home], elsewhere)).toMatchObject({
    apiToken: null,
    caCerts: null,
    authority: null,
    endToEnd: false,
  })
})
