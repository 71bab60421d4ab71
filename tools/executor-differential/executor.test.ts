import { describe, expect, it } from 'vitest';

import { extent, isWhole } from '../../test/kit/extent.ts';
import { runCampaign } from './campaign.ts';
import { federatedSources } from './schemas/index.ts';
import { chain, circles } from './schemas/keys.ts';
import { createWorld, type World } from './world.ts';

describe('the federated executor', () => {
  it("answers random operations as Apollo's own executor does, sound and with faults", async () => {
    const worlds = federatedSources.map(createWorld);
    const cases = extent(30, 2_000);
    const outcome = await runCampaign({ worlds, cases, seed: 20261121 });
    expect(outcome.differences).toEqual([]);
    expect(outcome.withErrors).toBeGreaterThan(cases / 5);
    expect(outcome.withDeviations).toBeGreaterThan(cases / 40);
  });
});

// It proves nothing of the product.
describe.runIf(isWhole)('the comparison', () => {
  const spoilt = (alter: (data: Record<string, unknown>) => void): World => {
    const world = createWorld(chain);
    return {
      ...world,
      async run(operation, faults) {
        const { apollo, ours } = await world.run(operation, faults);
        const wrong = ours.map((result) => {
          if (result.data === null || result.data === undefined) return result;
          const data = structuredClone(result.data);
          alter(data);
          return { ...result, data };
        });
        return { apollo, ours: wrong };
      },
    };
  };

  it('finds an executor that loses a field, and shows the smallest operation that tells', async () => {
    const loses = spoilt((data) => void delete data['users']);
    const { differences } = await runCampaign({ worlds: [loses], cases: 200, seed: 1 });
    expect(differences[0]).toMatch(/^chain, faults .*\nquery T \{\n {2}users \{\n {4}\w+\n {2}\}\n\}/);
  });

  it('finds an executor that answers in another order', async () => {
    const turned = spoilt((data) => {
      for (const [name, value] of Object.entries(data)) {
        delete data[name];
        Object.assign(data, { zz: data['zz'], [name]: value });
        break;
      }
    });
    expect((await runCampaign({ worlds: [turned], cases: 40, seed: 1 })).differences).not.toEqual([]);
  });

  it('runs the same cases for the same seed', async () => {
    const run = () => runCampaign({ worlds: [createWorld(circles)], cases: 40, seed: 3 });
    expect(await run()).toEqual(await run());
  });
});
