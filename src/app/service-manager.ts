// Tells systemd when the server is ready, reloads and stops, if systemd started it and waits for that.

import { joinCalls, type Reload } from '../operating/reload.ts'
import { readServiceEnvironment, type ServiceNotifier } from '../operating/service-notify.ts'

export type ManagedOptions = {
  env: Readonly<Record<string, string | undefined>>
  isAlive: () => Promise<boolean>
  reload: Reload
  stop: () => Promise<void>
}

/** Says that the server is ready. Returns its reload and stop, which say so as well. */
export async function announceReady(
  options: ManagedOptions,
): Promise<Pick<ManagedOptions, 'reload' | 'stop'>> {
  const { reload, stop } = options
  const notifier = await openNotifier(options)
  if (notifier === null) return { reload, stop }
  notifier.ready()
  return {
    reload: joinCalls(async () => {
      notifier.reloading()
      await reload().finally(notifier.ready)
    }),
    stop: async () => {
      notifier.stopping()
      await stop()
    },
  }
}

/** Loads the system's library only under systemd. */
async function openNotifier({ env, isAlive }: ManagedOptions): Promise<ServiceNotifier | null> {
  const service = process.platform === 'linux' ? readServiceEnvironment(env, process.pid) : null
  if (service === null) return null
  const { createServiceNotifier } = await import('../operating/service-notifier.ts')
  return createServiceNotifier({ ...service, isAlive })
}
