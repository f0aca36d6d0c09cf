// `oncebox desktop`: "Share through Oncebox" in the menus of file managers, for this person alone.

import { type CommandInput, command } from '../command.ts'
import { ReportedFailure } from '../failures.ts'

type Act = 'install' | 'uninstall' | 'status'

const load = () => import('../desktop/desktop.ts')

const act =
  (name: Act) =>
  async ({ shell }: Pick<CommandInput, 'shell'>) => {
    const isInOrder = (await load())[name](shell)
    if (!(await isInOrder)) throw new ReportedFailure(1)
  }

export const DESKTOP = [
  command({ name: 'desktop', heading: 'Share and open:' }),
  command({ name: 'desktop install', act: act('install') }),
  command({ name: 'desktop uninstall', act: act('uninstall') }),
  command({ name: 'desktop status', act: act('status') }),
]
