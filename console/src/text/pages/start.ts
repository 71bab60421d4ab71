/** Texts of the first steps, in English and Simplified Chinese. */
export const startEn = {
  'start.try': 'Try it here',
  'start.trying': 'Sending',
  'start.tryText': 'Sends the request below from this page, as whoever is signed in, and shows the answer.',
  'start.answer': 'The answer',
  'start.openTask': 'Watch its task',
  'start.language': 'Language or library',
  'start.explorer': 'GraphQL explorer',
  'start.restMedia': 'REST: media',
  'start.restWorkflow': 'REST: workflow',
  'snippet.afterSeq': 'All events from the first; after a lost connection give the last seq that was seen.',
  'snippet.called':
    'Called once the task has ended. Answer 2xx, else it is sent again; each delivery can be repeated on the task’s page.',
  'snippet.endpoint':
    'An endpoint of the operator’s own receives the events of all tasks, each delivery signed with its secret:',
  'snippet.receiver': 'A receiver on this machine that prints what it is sent:',
  'snippet.allow': 'Private addresses are refused unless the operator allows them, so start Kiln with:',
  'snippet.then': 'Then:',
  'snippet.key': 'KILN_KEY: from People and keys, “Make a key”.',
  'snippet.keyOfOthers': 'KILN_KEY: a service key; administrators make them in People and keys.',
} as const;

/** The same in Simplified Chinese. */
export const startZh: Readonly<Record<keyof typeof startEn, string>> = {
  'start.try': '在此试用',
  'start.trying': '发送中',
  'start.tryText': '以当前身份从此页面发送下面的请求，并显示结果。',
  'start.answer': '结果',
  'start.openTask': '查看任务',
  'start.language': '语言或库',
  'start.explorer': 'GraphQL 浏览器',
  'start.restMedia': 'REST：媒体',
  'start.restWorkflow': 'REST：工作流',
  'snippet.afterSeq': '从第一个事件开始；断线后请传入最后收到的 seq。',
  'snippet.called': '任务结束后调用一次。请返回 2xx，否则会重发；每次投递都可以在任务页面上重新发送。',
  'snippet.endpoint': '运营者自己的端点会收到所有任务的通知，每次投递都用其密钥签名：',
  'snippet.receiver': '在本机启动一个接收器，打印收到的内容：',
  'snippet.allow': '除非运营者允许，否则拒绝私有地址，因此请这样启动 Kiln：',
  'snippet.then': '然后：',
  'snippet.key': 'KILN_KEY：在“用户与密钥”页面创建密钥。',
  'snippet.keyOfOthers': 'KILN_KEY：服务密钥，由管理员在“用户与密钥”页面创建。',
};
