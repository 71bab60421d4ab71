/** Texts of the first steps, in English and Simplified Chinese. */
export const startEn = {
  'start.try': 'Try it here',
  'start.trying': 'Sending',
  'start.tryText': 'Sends the request below from this page, as whoever is signed in, and shows the answer.',
  'start.answer': 'The answer',
  'start.openTask': 'Watch its task',
  'start.language': 'Language or library',
} as const;

/** The same in Simplified Chinese. */
export const startZh: Readonly<Record<keyof typeof startEn, string>> = {
  'start.try': '在此试用',
  'start.trying': '发送中',
  'start.tryText': '以当前身份从此页面发送下面的请求，并显示结果。',
  'start.answer': '结果',
  'start.openTask': '查看任务',
  'start.language': '语言或库',
};
