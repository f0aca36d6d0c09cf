// `oncebox exec`: runs a command with secrets that only this command receives.

import { command, repeated, toggle, valued } from '../command.ts'
import { parseSource, passphraseVariable, STDIN, targetParser } from '../exec/targets.ts'
import { ReportedFailure } from '../failures.ts'
import { anyPath } from '../paths.ts'
import { callSettings } from '../server-command.ts'

export const EXEC = command({
  name: 'exec',
  operands: 'COMMAND [ARG…]',
  heading: 'Share and open:',
  settings: callSettings,
  flags: {
    env: repeated('env <name=source>', targetParser('env')),
    stdin: valued('stdin <source>', parseSource),
    file: repeated('file <name=source>', targetParser('file')),
    passphraseEnv: repeated('passphrase-env <name=variable>', passphraseVariable),
    allowDisk: toggle('allow-disk'),
    statusFile: valued('status-file <path>', anyPath),
    verbose: toggle('verbose'),
  },
  problems: ({ flags: { env, file, stdin, passphraseEnv }, raw }) => {
    const names = [...env, ...file].map(({ name }) => name)
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    const all = stdin === null ? names : [...names, STDIN]
    const unknown = passphraseEnv.find(({ name }) => !all.includes(name))
    return [
      all.length === 0 && 'there is no secret to pass on: add --env, --stdin or --file',
      (raw.stdin?.length ?? 0) > 1 && '--stdin: a command has only one standard input',
      twice !== undefined && `${twice} is given twice`,
      unknown !== undefined && `--passphrase-env ${unknown.name}: no --env, --file or --stdin has this name`,
    ]
  },
  refuse: async (cause, { raw, shell }) => {
    const { reportFailure } = await import('../exec/exec.ts')
    return new ReportedFailure(reportFailure(cause, raw['status-file']?.at(-1) ?? null, shell))
  },
  act: async (given) => {
    const { exec } = await import('../exec/exec.ts')
    const exitCode = await exec(given)
    if (exitCode !== 0) throw new ReportedFailure(exitCode)
  },
})
