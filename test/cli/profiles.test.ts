// Which server a command asks when nobody says.

import { expect, test } from 'bun:test'
import { chooseServer } from '../../src/cli/profiles.ts'

const NOTHING = { link: null, server: null, profile: null, apiToken: null }

test('without a login it is the address that every default server holds, never a name', () => {
  expect(chooseServer([], NOTHING)).toEqual({ server: 'http://127.0.0.1:5100', apiToken: null })
})
