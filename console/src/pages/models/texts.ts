import type { ModelsQuery } from '../../api/documents/operations.ts';
import { createTexts, t } from '../../text/text.ts';

/** Texts of the cards of providers, in English and Simplified Chinese. */
const providersEn = {
  'providers.successOf': '{percent} % succeeded',
  'providers.usual': 'half within {half}, 95 % within {most}',
  'providers.inLine': '{count} waiting',
  'providers.day': 'Last 24 hours: {count, plural, one {# run} other {# runs}}, {percent} % succeeded',
  'providers.dayNone': 'Last 24 hours: nothing has run',
  'providers.keySet': 'Key set',
  'providers.keyMissing': 'No key: the sandbox stands in',
  'providers.keyPartly': 'Key set for a part',
  'providers.connect': 'Connect',
  'providers.connectOne': 'Connect {name}',
  'providers.connectText': 'Add these lines to .env with your values, and start Kiln again.',
  'providers.connectWays': 'Add one of these to .env with your values, and start Kiln again.',
} as const;

/** The same in Simplified Chinese. */
const providersZh: Readonly<Record<keyof typeof providersEn, string>> = {
  'providers.successOf': '成功率 {percent} %',
  'providers.usual': '半数在 {half} 内，95 % 在 {most} 内',
  'providers.inLine': '{count} 个等待中',
  'providers.day': '近 24 小时：运行 {count} 次，成功率 {percent} %',
  'providers.dayNone': '近 24 小时：没有运行',
  'providers.keySet': '密钥已设置',
  'providers.keyMissing': '没有密钥：由沙盒代替',
  'providers.keyPartly': '部分已设置密钥',
  'providers.connect': '连接',
  'providers.connectOne': '连接 {name}',
  'providers.connectText': '把这些行加入 .env 并填入你的值，然后重新启动 Kiln。',
  'providers.connectWays': '把其中一组加入 .env 并填入你的值，然后重新启动 Kiln。',
};

/** All of them, by language. */
export const providerTexts = { en: providersEn, zh: providersZh };

/** A text of the cards of providers. */
export const tp = createTexts(providersEn, providersZh);

type Model = ModelsQuery['models'][number];

/** What a model takes, in one line. */
export function limitsText({
  sizes,
  aspectRatios,
  durations,
  maxPrompt,
  maxCount,
  maxImages,
  formats,
}: Model): string {
  const limits = [
    sizes?.join(', '),
    aspectRatios?.join(' '),
    durations === null ? null : t('time.seconds', { seconds: durations.join(', ') }),
    formats?.join(', '),
    maxCount === null ? null : t('models.atOnce', { count: maxCount }),
    maxImages === null ? null : t('studio.references', { count: maxImages }),
    maxPrompt === null ? null : t('models.characters', { count: maxPrompt.toLocaleString() }),
  ];
  return limits.filter(Boolean).join(' · ');
}
