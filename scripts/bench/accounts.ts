// Creates the accounts whose lists are measured, with the binary's commands while the server runs.

import type { Sandbox } from './sandbox.ts'
import { cleanEnvironment } from './servers.ts'

interface Commands {
  readonly sandbox: Sandbox
  readonly binary: string
  readonly dataDir: string
  /** Of the server that they are for. */
  readonly env?: Record<string, string>
}

/** Adds `count` accounts and returns an API token of each. */
export async function addOwners(commands: Commands, owners: number): Promise<string[]> {
  const apiTokens: string[] = []
  for (let number = 1; number <= owners; number += 1) {
    const email = `owner-${number}@example.org`
    await run(commands, {
      words: ['user', 'add', email, '--password-stdin'],
      input: `${crypto.randomUUID()}\n`,
    })
    apiTokens.push((await run(commands, { words: ['token', 'create', email], input: '' })).trim())
  }
  return apiTokens
}

async function run(commands: Commands, call: { words: string[]; input: string }): Promise<string> {
  const { sandbox, binary, dataDir, env = {} } = commands
  const child = sandbox.adopt(
    Bun.spawn([binary, ...call.words, '--data-dir', dataDir], {
      stdin: Buffer.from(call.input),
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...cleanEnvironment(), ...env },
    }),
  )
  const [printed, problem, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`oncebox ${call.words.join(' ')} ended with ${code}:\n${problem}`)
  return printed
}
