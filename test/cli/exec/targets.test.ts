// The words of `oncebox exec`: sources, names of variables, and messages that repeat no link.

import { expect, test } from 'bun:test'
import { parseSource, targetParser } from '../../../src/cli/exec/targets.ts'

const TOKEN = '7k3m9qx2vn4t8bw5hj6r0yzacd'

test.each([
  ['@env:DB_LINK', { from: 'variable', variable: 'DB_LINK', isRequest: false }],
  ['@fd:3', { from: 'descriptor', descriptor: 3, isRequest: false }],
  ['@fd:0', { from: 'descriptor', descriptor: 0, isRequest: false }],
  [`@request:${TOKEN}`, { from: 'text', text: TOKEN, isRequest: true }],
  [TOKEN, { from: 'text', text: TOKEN, isRequest: false }],
  [`https://once.example/q/${TOKEN}`, { isRequest: true }],
  [`https://once.example/p/${TOKEN}/r#key`, { from: 'text', isRequest: false }],
])('%p is parsed as a source', (text, source) => {
  expect(parseSource(text)).toMatchObject({ value: source })
})

test.each(['', '@', '@env:', '@fd:1', '@fd:2', '@fd:x', '@fd:', '@file:x', '@request:', '@request:%', 'a b'])(
  '%p is no source, and the message does not repeat it',
  (text) => {
    expect(parseSource(text)).toMatchObject({ problem: expect.any(String), isSecret: true })
  },
)

test.each([
  ...[
    'LD_PRELOAD',
    'GCONV_PATH',
    'OPENSSL_CONF',
    'LUA_INIT',
    'BUN_OPTIONS',
    'SHELL',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'PATH',
    'Path',
    'BASH_ENV',
    'ENV',
    'NODE_OPTIONS',
  ],
  ...[
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PERL5LIB',
    'PERL5OPT',
    'RUBYOPT',
    'GIT_SSH_COMMAND',
    'GIT_EXTERNAL_DIFF',
  ],
  ...[
    'SSH_ASKPASS',
    'PHP_INI_SCAN_DIR',
    'MAKEFILES',
    'R_PROFILE_USER',
    'ERL_AFLAGS',
    'GEM_HOME',
    'RUSTC_WRAPPER',
  ],
  ...['ONCEBOX_TOKEN', 'BASH_FUNC_x', 'IFS', '1X', 'A-B', 'A B', '', 'É'],
])('%p may hold neither a secret nor the path of one', (name) => {
  for (const use of ['env', 'file'] as const) {
    const parsed = targetParser(use)(`${name}=@env:LINK`)
    expect(parsed).toMatchObject({ problem: expect.any(String), isSecret: true })
  }
})

test('PATHS, ENVIRONMENT, PGPASSWORD and KUBECONFIG are allowed', () => {
  for (const name of ['PATHS', 'ENVIRONMENT', 'PGPASSWORD', 'KUBECONFIG', '_x'])
    expect(targetParser('env')(`${name}=@env:LINK`)).toMatchObject({ value: { use: 'env', name } })
})
