// The file of settings of a service, as systemd reads it.

import { describe, expect, test } from 'bun:test'
import { newEnvFile, parseEnvFile, setInEnvFile, variablesOf } from '../../../src/cli/service/env-file.ts'
import { settings } from '../../../src/settings/table.ts'

describe('reading', () => {
  test.each<[string, Record<string, string>]>([
    ['A=1\nB=two words  \n', { A: '1', B: 'two words' }],
    ['# A=1\n  ; B=2\nC=3', { C: '3' }],
    ['A="two  words "\nB=\'it $is\'\n', { A: 'two  words ', B: 'it $is' }],
    ['A="a \\"quoted\\" \\\\ one"', { A: 'a "quoted" \\ one' }],
    ["CONTACT=the desk's phone", { CONTACT: "the desk's phone" }],
    ['A=one\\\ntwo\nB=2', { A: 'onetwo', B: '2' }],
    ['A=1\nA=2', { A: '2' }],
    ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['A=\nB=x#y', { A: '', B: 'x#y' }],
    ['not a line\n=x\n1A=2\n', {}],
  ])('%j', (text, wanted) => {
    expect(parseEnvFile(text)).toEqual(wanted)
  })
})

describe('writing', () => {
  test.each([
    '5100',
    'https://once.example/x?a=1',
    'two words',
    'a "b" \\ $HOME `c`',
    "the desk's",
    '#7a1f5c',
    ' x ',
  ])('the value %j is read back exactly', (value) => {
    expect(parseEnvFile(setInEnvFile('', { ONCEBOX_X: value }))).toEqual({ ONCEBOX_X: value })
  })

  test('changes one line and keeps comments, order and foreign lines', () => {
    const before = '# mine\nA=1\nONCEBOX_PORT=5100\nB="x y"\n'
    expect(setInEnvFile(before, { ONCEBOX_PORT: '8080', ONCEBOX_LAN: 'true' })).toBe(
      '# mine\nA=1\nONCEBOX_PORT=8080\nB="x y"\nONCEBOX_LAN=true\n',
    )
  })

  test('a file that ends without a newline gets one first', () => {
    expect(setInEnvFile('A=1', { B: '2' })).toBe('A=1\nB=2\n')
  })

  test('the first file sets nothing and says how a change takes effect', () => {
    expect(parseEnvFile(newEnvFile('systemctl restart oncebox'))).toEqual({})
    expect(newEnvFile('systemctl restart oncebox')).toContain('systemctl restart oncebox')
  })

  test('flags become variables: lists with commas, the last of several values', () => {
    const flags = { port: ['1', '443'], 'trusted-proxy': ['127.0.0.1', '10.0.0.0/8'], lan: ['true'] }
    expect(variablesOf(settings, flags)).toEqual({
      ONCEBOX_PORT: '443',
      ONCEBOX_TRUSTED_PROXY: '127.0.0.1,10.0.0.0/8',
      ONCEBOX_LAN: 'true',
    })
  })
})
