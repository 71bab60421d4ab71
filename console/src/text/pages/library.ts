/** Texts of what several pages do with lists, in English and Simplified Chinese. */
export const libraryEn = {
  'narrow.title': 'More filters',
  'narrow.any': 'Any',
  'narrow.generator': 'Generator',
  'narrow.model': 'Model',
  'narrow.owner': 'Owner',
  'narrow.from': 'From',
  'narrow.to': 'To',
  'narrow.remove': 'Remove the filter',
  'narrow.ownerHint': 'Name, email or key_…',
} as const;

/** The same in Simplified Chinese. */
export const libraryZh: Readonly<Record<keyof typeof libraryEn, string>> = {
  'narrow.title': '更多筛选',
  'narrow.any': '不限',
  'narrow.generator': '生成器',
  'narrow.model': '模型',
  'narrow.owner': '所有者',
  'narrow.from': '从',
  'narrow.to': '到',
  'narrow.remove': '移除筛选',
  'narrow.ownerHint': '姓名、邮箱或 key_…',
};
