// The file of settings of a service, as systemd reads it.

import { describe, expect, test } from 'bun:test'
import { newEnvFile, parseEnvFile, setInEnvFile } from '../../src/install/env-file.ts'
import { variablesOf } from '../../src/install/service.ts'

const variablesIn = (text: string) => {
  const { variables, problems } = parseEnvFile(text)
  expect(problems).toEqual([])
  return variables
}

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
    // Blanks around the name and before the value are ignored.
    [' A = 1\nB\t=\t2\n  \t\n', { A: '1', B: '2' }],
    ['A="one" \'two\' three\n', { A: 'onetwothree' }],
    ['A="one\n# two"\nB=2', { A: 'one\n# two', B: '2' }],
    ['# a comment \\\nB=2', { B: '2' }],
    ['https_proxy=http://proxy\nA=x\\', { https_proxy: 'http://proxy', A: 'x' }],
    ['A=x\\ \nB=y\\\\  \n', { A: 'x ', B: 'y\\' }],
  ])('%j', (text, wanted) => {
    expect(variablesIn(text)).toEqual(wanted)
  })

  test.each([
    ['\ufeffONCEBOX_PORT=1', /^line 1: .*byte order mark/],
    ['A=1\nexport ONCEBOX_PORT=1', /^line 2: .*leave out the word export/],
    ['A="one\ntwo"\n\noncebox_port=1', /^line 4: oncebox_port must be written in capitals: ONCEBOX_PORT$/],
    ['Oncebox_Port=1', /capitals: ONCEBOX_PORT/],
    ['ONCEBOX_PORT: 1', /^line 1: must be NAME=value/],
    ['ONCEBOX_PORT 1', /must be NAME=value/],
    ['ONCEBOX PORT=1', /must be NAME=value/],
    ['ONCEBOX-PORT=1', /must be NAME=value/],
    ['set ONCEBOX_PORT=1', /must be NAME=value/],
    ['1A=2', /must be NAME=value/],
    ['=x', /must be NAME=value/],
    ['no line\u2028A=1', /must be NAME=value/],
    ['A= "s3cret', /quotation mark is not closed/],
    ['A="x" \'s3cret', /quotation mark is not closed/],
    ['\u0000A\u0000=\u00001', /must be NAME=value/],
  ])('a line that is not NAME=value is reported by number, without its value: %j', (text, told) => {
    const { variables, problems } = parseEnvFile(`${text}\nB=2`)
    expect(variables.B).toBe('2')
    expect(problems).toEqual([expect.stringMatching(told)])
    expect(problems.join()).not.toContain('s3cret')
    expect(Object.keys(variables).filter((name) => /oncebox/i.test(name))).toEqual([])
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
    expect(variablesIn(setInEnvFile('', { ONCEBOX_X: value }))).toEqual({ ONCEBOX_X: value })
  })

  test('changes one line and keeps comments, order and unknown lines', () => {
    const before = '# mine\nA=1\nONCEBOX_PORT=5100\nB="x y"\n'
    expect(setInEnvFile(before, { ONCEBOX_PORT: '8080', ONCEBOX_LAN: 'true' })).toBe(
      '# mine\nA=1\nONCEBOX_PORT=8080\nB="x y"\nONCEBOX_LAN=true\n',
    )
  })

  test('a line with blanks around its name is changed, too', () => {
    expect(setInEnvFile(' ONCEBOX_PORT = 1\nB=2', { ONCEBOX_PORT: '8080' })).toBe('ONCEBOX_PORT=8080\nB=2')
  })

  test('adds a missing newline at the end of the file first', () => {
    expect(setInEnvFile('A=1', { B: '2' })).toBe('A=1\nB=2\n')
  })

  test('creates a first file that sets nothing and says how a change takes effect', () => {
    expect(variablesIn(newEnvFile('systemctl restart oncebox'))).toEqual({})
    expect(newEnvFile('systemctl restart oncebox')).toContain('systemctl restart oncebox')
  })

  test('turns flags into variables: lists with commas, the last of several values', () => {
    const flags = { port: ['1', '443'], 'trusted-proxy': ['127.0.0.1', '10.0.0.0/8'], lan: ['true'] }
    expect(variablesOf(flags, { platform: 'linux', cwd: '/' })).toEqual({
      ONCEBOX_PORT: '443',
      ONCEBOX_TRUSTED_PROXY: '127.0.0.1,10.0.0.0/8',
      ONCEBOX_LAN: 'true',
    })
  })
})
