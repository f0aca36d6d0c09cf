// The task that the Task Scheduler of Windows runs Oncebox by: at the start of the machine, or when one user signs in.

import { escapeXml } from './launchd-job.ts'

export type TaskOptions = {
  executable: string
  envFile: string
  /** `DOMAIN\name` of the one user that the task is for; null for the machine. */
  user: string | null
}

/** The Windows account for services that need few rights. */
export const LOCAL_SERVICE = 'S-1-5-19'
const FOREVER = 'PT0S'

export function windowsTask({ executable, envFile, user }: TaskOptions): string {
  const id = user === null ? LOCAL_SERVICE : escapeXml(user)
  const trigger =
    user === null
      ? '<BootTrigger><Enabled>true</Enabled></BootTrigger>'
      : `<LogonTrigger><Enabled>true</Enabled><UserId>${id}</UserId></LogonTrigger>`
  const logon = user === null ? '' : '<LogonType>InteractiveToken</LogonType>'
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo><Description>Oncebox: secrets that are shared once</Description></RegistrationInfo>',
    `  <Triggers>${trigger}</Triggers>`,
    `  <Principals><Principal id="Author"><UserId>${id}</UserId>${logon}<RunLevel>LeastPrivilege</RunLevel></Principal></Principals>`,
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <StartWhenAvailable>true</StartWhenAvailable>',
    '    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>',
    `    <ExecutionTimeLimit>${FOREVER}</ExecutionTimeLimit>`,
    '    <Priority>6</Priority>',
    '  </Settings>',
    '  <Actions Context="Author"><Exec>',
    `    <Command>${escapeXml(executable)}</Command>`,
    `    <Arguments>serve --env-file &quot;${escapeXml(envFile)}&quot;</Arguments>`,
    '  </Exec></Actions>',
    '</Task>',
    '',
  ].join('\r\n')
}
