# An image of an application that has millrace among its dependencies. In the folder of its package.json:
#
#     docker build -f app.Dockerfile -t my-app .
#
# server.js is to listen on all addresses at $PORT, to answer /livez, and to end at SIGTERM.
ARG BUILD_IMAGE=node:22-bookworm
ARG RUN_IMAGE=node:22-bookworm-slim

# For dependencies that are compiled. The addon of millrace comes ready for the C library of both images.
FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY . .

FROM ${RUN_IMAGE}
ENV NODE_ENV=production PORT=8080
WORKDIR /app
COPY --from=build /app ./
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node"]
CMD ["server.js"]
