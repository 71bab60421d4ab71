import { expect, it } from 'vitest';

import { joinMetrics } from './joined-metrics.ts';

it('tells each family once, and each sample with the number of its process', () => {
  const one = '# HELP a_total Help.\n# TYPE a_total counter\na_total{role="all"} 1\n\n# TYPE b gauge\nb 2\n';
  const other = '# HELP a_total Help.\n# TYPE a_total counter\na_total{role="all"} 3\na_total{} 4\n';
  const joined = joinMetrics(
    new Map([
      [1, one],
      [2, other],
    ]),
  );
  expect(joined).toBe(
    [
      '# HELP a_total Help.',
      '# TYPE a_total counter',
      'a_total{process="1",role="all"} 1',
      'a_total{process="2",role="all"} 3',
      'a_total{process="2"} 4',
      '',
      '# TYPE b gauge',
      'b{process="1"} 2',
      '',
    ].join('\n'),
  );
});
