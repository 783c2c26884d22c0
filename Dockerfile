# Serves the files of a folder, which is only read:
#   docker build -t kebab . && docker run -p 127.0.0.1:7717:7717 -v ~/notes:/notes:ro -v kebab:/kebab kebab
# The volume `/kebab` keeps the index, the model weights and the token of the server.
FROM python:3.13-slim
COPY . /source
RUN pip install --no-cache-dir '/source[all]' && rm -r /source && useradd --home-dir /kebab --create-home kebab
USER kebab
VOLUME /kebab
EXPOSE 7717
CMD ["sh", "-c", "kebab ingest /notes && exec kebab serve --host 0.0.0.0 --watch"]
