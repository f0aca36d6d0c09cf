// The drawings of the icons, from Lucide: only those that a page uses. To use another one, add its file here.

import activity from 'lucide-static/icons/activity.svg' with { type: 'text' }
import arrowUpDown from 'lucide-static/icons/arrow-up-down.svg' with { type: 'text' }
import bell from 'lucide-static/icons/bell.svg' with { type: 'text' }
import calendarClock from 'lucide-static/icons/calendar-clock.svg' with { type: 'text' }
import check from 'lucide-static/icons/check.svg' with { type: 'text' }
import chevronDown from 'lucide-static/icons/chevron-down.svg' with { type: 'text' }
import circleAlert from 'lucide-static/icons/circle-alert.svg' with { type: 'text' }
import circleCheck from 'lucide-static/icons/circle-check.svg' with { type: 'text' }
import circleUserRound from 'lucide-static/icons/circle-user-round.svg' with { type: 'text' }
import circleX from 'lucide-static/icons/circle-x.svg' with { type: 'text' }
import clock from 'lucide-static/icons/clock.svg' with { type: 'text' }
import codeXml from 'lucide-static/icons/code-xml.svg' with { type: 'text' }
import copy from 'lucide-static/icons/copy.svg' with { type: 'text' }
import copyPlus from 'lucide-static/icons/copy-plus.svg' with { type: 'text' }
import download from 'lucide-static/icons/download.svg' with { type: 'text' }
import ellipsisVertical from 'lucide-static/icons/ellipsis-vertical.svg' with { type: 'text' }
import externalLink from 'lucide-static/icons/external-link.svg' with { type: 'text' }
import eye from 'lucide-static/icons/eye.svg' with { type: 'text' }
import eyeOff from 'lucide-static/icons/eye-off.svg' with { type: 'text' }
import file from 'lucide-static/icons/file.svg' with { type: 'text' }
import fileText from 'lucide-static/icons/file-text.svg' with { type: 'text' }
import folderArchive from 'lucide-static/icons/folder-archive.svg' with { type: 'text' }
import globe from 'lucide-static/icons/globe.svg' with { type: 'text' }
import hardDrive from 'lucide-static/icons/hard-drive.svg' with { type: 'text' }
import history from 'lucide-static/icons/history.svg' with { type: 'text' }
import hourglass from 'lucide-static/icons/hourglass.svg' with { type: 'text' }
import info from 'lucide-static/icons/info.svg' with { type: 'text' }
import keyRound from 'lucide-static/icons/key-round.svg' with { type: 'text' }
import languages from 'lucide-static/icons/languages.svg' with { type: 'text' }
import laptop from 'lucide-static/icons/laptop.svg' with { type: 'text' }
import link from 'lucide-static/icons/link.svg' with { type: 'text' }
import list from 'lucide-static/icons/list.svg' with { type: 'text' }
import listFilter from 'lucide-static/icons/list-filter.svg' with { type: 'text' }
import lock from 'lucide-static/icons/lock.svg' with { type: 'text' }
import lockOpen from 'lucide-static/icons/lock-open.svg' with { type: 'text' }
import logIn from 'lucide-static/icons/log-in.svg' with { type: 'text' }
import logOut from 'lucide-static/icons/log-out.svg' with { type: 'text' }
import mail from 'lucide-static/icons/mail.svg' with { type: 'text' }
import menu from 'lucide-static/icons/menu.svg' with { type: 'text' }
import messageSquareText from 'lucide-static/icons/message-square-text.svg' with { type: 'text' }
import pencil from 'lucide-static/icons/pencil.svg' with { type: 'text' }
import plus from 'lucide-static/icons/plus.svg' with { type: 'text' }
import qrCode from 'lucide-static/icons/qr-code.svg' with { type: 'text' }
import refreshCw from 'lucide-static/icons/refresh-cw.svg' with { type: 'text' }
import save from 'lucide-static/icons/save.svg' with { type: 'text' }
import search from 'lucide-static/icons/search.svg' with { type: 'text' }
import send from 'lucide-static/icons/send.svg' with { type: 'text' }
import settings from 'lucide-static/icons/settings.svg' with { type: 'text' }
import share2 from 'lucide-static/icons/share-2.svg' with { type: 'text' }
import shieldCheck from 'lucide-static/icons/shield-check.svg' with { type: 'text' }
import smartphone from 'lucide-static/icons/smartphone.svg' with { type: 'text' }
import terminal from 'lucide-static/icons/terminal.svg' with { type: 'text' }
import trash2 from 'lucide-static/icons/trash-2.svg' with { type: 'text' }
import triangleAlert from 'lucide-static/icons/triangle-alert.svg' with { type: 'text' }
import upload from 'lucide-static/icons/upload.svg' with { type: 'text' }
import user from 'lucide-static/icons/user.svg' with { type: 'text' }
import users from 'lucide-static/icons/users.svg' with { type: 'text' }
import wandSparkles from 'lucide-static/icons/wand-sparkles.svg' with { type: 'text' }
import wifi from 'lucide-static/icons/wifi.svg' with { type: 'text' }
import x from 'lucide-static/icons/x.svg' with { type: 'text' }
import mark from './mark.svg' with { type: 'text' }

/** Each as the text of its file. `mark` is our own. */
export const ICON_FILES = {
  mark,
  activity,
  'arrow-up-down': arrowUpDown,
  bell,
  'calendar-clock': calendarClock,
  check,
  'chevron-down': chevronDown,
  'circle-alert': circleAlert,
  'circle-check': circleCheck,
  'circle-user-round': circleUserRound,
  'circle-x': circleX,
  clock,
  'code-xml': codeXml,
  copy,
  'copy-plus': copyPlus,
  download,
  'ellipsis-vertical': ellipsisVertical,
  'external-link': externalLink,
  eye,
  'eye-off': eyeOff,
  file,
  'file-text': fileText,
  'folder-archive': folderArchive,
  globe,
  'hard-drive': hardDrive,
  history,
  hourglass,
  info,
  'key-round': keyRound,
  languages,
  laptop,
  link,
  list,
  'list-filter': listFilter,
  lock,
  'lock-open': lockOpen,
  'log-in': logIn,
  'log-out': logOut,
  mail,
  menu,
  'message-square-text': messageSquareText,
  pencil,
  plus,
  'qr-code': qrCode,
  'refresh-cw': refreshCw,
  save,
  search,
  send,
  settings,
  'share-2': share2,
  'shield-check': shieldCheck,
  smartphone,
  terminal,
  'trash-2': trash2,
  'triangle-alert': triangleAlert,
  upload,
  user,
  users,
  'wand-sparkles': wandSparkles,
  wifi,
  x,
} as const

export type IconName = keyof typeof ICON_FILES
