// Completion scripts, run by the shells that are installed here.

import { expect, test } from 'bun:test'
import { needs } from '../support/needs.ts'
import { createTrial } from './trial.ts'

async function scriptFor(shell: string): Promise<string> {
  const trial = createTrial()
  expect(await trial.run('completion', shell)).toBe(0)
  return trial.out.join('')
}

function run(command: string[], input = ''): string {
  const { stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input) })
  return stdout.toString() + stderr.toString()
}

const CASES: [string[], string[], string[]][] = [
  [
    ['oncebox', ''],
    ['push', 'get', 'user', 'completion'],
    ['--kind', 'add'],
  ],
  [['oncebox', 'pu'], ['push'], ['get']],
  [
    ['oncebox', 'push', '--'],
    ['--kind', '--file', '--json'],
    ['push', '--page'],
  ],
  [
    ['oncebox', 'push', '--kind', ''],
    ['text', 'file', 'url', 'qr'],
    ['--json', 'push'],
  ],
  [['oncebox', 'push', '--kind', 'u'], ['url'], ['text']],
  [['oncebox', 'user', ''], ['add', 'list'], ['push']],
  [['oncebox', 'user', 'add', '--'], ['--admin', '--data-dir'], ['--json']],
  [['oncebox', 'push', '--name', 'user', '--'], ['--kind'], ['--data-dir']],
  [['oncebox', 'completion', ''], ['bash', 'fish'], ['push']],
]

needs('bash').describe('bash', () => {
  test.each(CASES)('%p', async (words, offered, not) => {
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_oncebox 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`
    const replies = run(['bash', '-c', `${await scriptFor('bash')}\n${ask}`]).split('\n')
    expect(replies).toEqual(expect.arrayContaining(offered))
    for (const word of not) expect(replies).not.toContain(word)
  })

  test('the typed line is never executed', async () => {
    const words = "COMP_WORDS=(oncebox push '$(echo ran >&2)' ''); COMP_CWORD=3; _oncebox"
    expect(run(['bash', '-c', `${await scriptFor('bash')}\n${words}`])).not.toContain('ran')
  })
})

needs('fish').describe('fish', () => {
  test.each(CASES)('%p', async (words, offered, not) => {
    const line = words.join(' ')
    const script = `${await scriptFor('fish')}\ncomplete -C '${line}'`
    const replies = run(['fish', '--no-config', '-c', script])
      .split('\n')
      .map((reply) => reply.split('\t')[0])
    expect(replies).toEqual(expect.arrayContaining(offered))
    for (const word of not) expect(replies).not.toContain(word)
  })
})

needs('zsh').describe('zsh', () => {
  // zsh itself filters words and completes values for every program, so this is not tested here.
  const untyped = CASES.filter(([words]) => /^-*$/.test(words.at(-1) ?? '') && !words.includes('--kind'))

  test.each(untyped)('%p', async (words, offered, not) => {
    const stubs = 'compdef() { }; _describe() { print -rl -- $items }; _arguments() { print -rl -- $flags }'
    const ask = `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _oncebox`
    const said = run(['zsh', '-f', '-c', `${stubs}\n${await scriptFor('zsh')}\n${ask}`])
    const replies = said.split('\n').map((reply) => reply.split(/[:[]/)[0]?.replace('*', ''))
    expect(replies).toEqual(expect.arrayContaining(offered))
    for (const word of not) expect(replies).not.toContain(word)
  })
})

test('a call without a shell lists all shells', async () => {
  const trial = createTrial()
  expect(await trial.run('completion')).toBe(2)
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    expect(trial.err.join('')).toContain(shell)
  }
})

test('the script for PowerShell contains the same words', async () => {
  const script = await scriptFor('powershell')
  expect(script).toContain('\noncebox push\ttext,file,url,qr\t--kind\t')
  expect(script).toContain('\noncebox user\tcommand\tadd\tadds an account\n')
  expect(script.split('{').length).toBe(script.split('}').length)
})
