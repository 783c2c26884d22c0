"""The Korean messages and hints; commands, settings and values are not translated."""

from kebab.errors.signal import Wording

_OTHER_SCHEMA = (
    "사용할 수 있는 색인이 없습니다: {data_dir}: "
    "색인의 스키마는 {found}, 이 빌드가 읽는 스키마는 {expected}"
)

# A wording is a message and a hint, by code or by `CODE:CASE` (see `Signal.choose_case`). A case
# without a message has that of its code; where a hint is left out, the English one is shown.
TEXTS: dict[str, Wording] = {
    "config_invalid": Wording(
        "설정이 올바르지 않습니다: {path}: {cause}",
        "파일을 고치거나, 사본을 남기고 새로 만드세요: `kebab init --force`",
    ),
    "usage_invalid": Wording("명령을 이해할 수 없습니다: {cause}"),
    "invalid_input": Wording("`{field}` 값이 올바르지 않습니다: {cause}"),
    "invalid_cursor": Wording(
        "커서가 올바르지 않습니다: {cause}", "`--cursor` 없이 다시 검색하세요"
    ),
    "stale_cursor": Wording(
        "커서가 발급된 뒤 색인이 바뀌었습니다: "
        "발급 당시 리비전 {issued_revision}, 현재 {current_revision}",
        "`--cursor` 없이 다시 검색하세요",
    ),
    "stale_cursor:path": Wording(
        "검토를 시작한 뒤 문서가 바뀌었습니다: {path}", "다시 검토하세요: `kebab review {path}`"
    ),
    "not_indexed": Wording("사용할 수 있는 색인이 없습니다: {data_dir}"),
    "not_indexed:older": Wording(_OTHER_SCHEMA),
    "not_indexed:newer": Wording(_OTHER_SCHEMA),
    "not_indexed:file": Wording(
        "{file} 파일을 읽을 수 없습니다: 스키마 {found}, 이 빌드가 읽는 스키마 {expected}"
    ),
    "model_unreachable": Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint}: {cause}", "서버 없이 계속하세요: `{fallback}`"
    ),
    "model_unreachable:ollama": Wording(
        "Ollama에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
        "`ollama serve`로 서버를 시작하거나 서버 없이 계속하세요: `{fallback}`",
    ),
    "model_unreachable:address": Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
        "서버를 시작하거나 다른 주소를 지정하세요: `export {variable}=URL`",
    ),
    "model_unreachable:proxy": Wording(
        "`{setting}`의 프록시를 거쳐 모델 서버에 연결할 수 없습니다: {endpoint}: {cause}",
        '프록시를 거치지 않게 하세요: `export NO_PROXY="$NO_PROXY,"{host}`',
    ),
    "model_unreachable:issuer": Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
        "PEM 파일의 발급자를 신뢰하게 하세요: `export SSL_CERT_FILE=FILE`",
    ),
    "model_unreachable:certificate": Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
        "인증서를 갱신하거나 다른 주소를 지정하세요: `export {variable}=URL`",
    ),
    "model_unreachable:silent": Wording(
        "모델 서버에 연결할 수 없습니다: {endpoint} (`{setting}`): {cause}",
        "서버가 다른 요청을 마친 뒤 다시 시도하거나 다른 주소를 지정하세요: "
        "`export {variable}=URL`",
    ),
    "model_unreachable:server": Wording(
        "모델 서버에서 완전한 답을 받지 못했습니다: {endpoint}: {cause}",
        "다시 시도하거나 서버 없이 계속하세요: `{fallback}`",
    ),
    "model_unreachable:needed": Wording(hint="서버가 실행되면 다시 시도하세요"),
    "model_not_pulled": Wording("Ollama에 없는 모델입니다: {model}"),
    "model_not_pulled:not_offered": Wording(
        "{endpoint} 모델 서버가 제공하지 않는 모델입니다: {model}"
    ),
    "model_rejected": Wording(
        "모델 서버가 {model} 모델을 거부했습니다: {cause}", "다른 모델을 지정하세요: `{other}`"
    ),
    "model_rejected:key_missing": Wording(
        "{endpoint} 모델 서버에는 키가 필요한데 `{setting}`에 값이 없습니다: {cause}"
    ),
    "model_rejected:key_refused": Wording(
        "{endpoint} 모델 서버가 `{setting}`의 키를 거부했습니다: {cause}"
    ),
    "model_rejected:sign_in": Wording("{model} 모델을 쓰려면 Ollama 계정이 필요합니다: {cause}"),
    "model_rejected:option": Wording(
        "모델 서버가 {model} 모델에 쓸 수 없는 설정을 거부했습니다: `{setting}`: {cause}"
    ),
    "model_rejected:memory": Wording(
        "모델 서버의 메모리가 {model} 모델에 부족합니다: {cause}",
        "더 작은 모델을 지정하세요: `{other}`",
    ),
    "model_rejected:load": Wording(
        "모델 서버가 {model} 모델을 읽어 들이지 못합니다: {cause}",
        "다른 모델을 지정하세요: `{other}`",
    ),
    "model_busy": Wording(
        "모델 서버가 다른 요청을 처리하고 있습니다: {endpoint}", "잠시 후 다시 시도하세요"
    ),
    "model_busy:loading": Wording("모델 서버가 아직 모델을 읽어 들이고 있습니다: {endpoint}"),
    "model_protocol": Wording("{endpoint}에서 예상하지 못한 응답을 받았습니다: {cause}"),
    "model_protocol:setting": Wording(
        "{endpoint} (`{setting}`)에서 예상하지 못한 응답을 받았습니다: {cause}"
    ),
    "context_overflow": Wording(
        "프롬프트가 모델의 컨텍스트 창({context_tokens}토큰)보다 깁니다: {prompt_tokens}",
        "`models.llm.context_tokens = {context_tokens}`보다 큰 창에는 더 많이 들어갑니다. "
        "모델 없이 계속하려면: `{fallback}`",
    ),
    "context_overflow:needed": Wording(
        hint="`models.llm.context_tokens = {context_tokens}`보다 큰 창에는 더 많이 들어갑니다"
    ),
    "embedding_unavailable": Wording("임베딩 모델을 가져올 수 없습니다: {model}: {cause}"),
    "embedding_unavailable:endpoint": Wording(
        "{endpoint}에서 {model}의 벡터를 받지 못했습니다: {cause}"
    ),
    "embedding_mismatch": Wording(
        "색인을 만든 모델과 설정된 모델이 다릅니다: 색인 {found}, 설정 {expected}"
    ),
    "timeout": Wording("{operation} 작업이 제한 시간을 넘겼습니다: {deadline_ms}ms"),
    "timeout:setting": Wording(
        "{operation} 작업이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms"
    ),
    "timeout:document": Wording(
        "{path} 파일을 읽는 작업이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms"
    ),
    "timeout:first_token": Wording(
        "{endpoint} 모델 서버가 `{setting}` 안에 첫 토큰을 보내지 않았습니다: {deadline_ms}ms"
    ),
    "timeout:next_token": Wording(
        "{endpoint} 모델 서버가 `{setting}` 안에 다음 토큰을 보내지 않았습니다: {deadline_ms}ms"
    ),
    "timeout:answer": Wording(
        "{endpoint} 모델 서버의 답이 `{setting}`의 제한 시간을 넘겼습니다: {deadline_ms}ms"
    ),
    "timeout:server": Wording(
        "{endpoint} 모델 서버가 너무 느립니다, 작업 {operation}: {deadline_ms}ms"
    ),
    "io_error": Wording("파일 시스템 작업({op})에 실패했습니다: {path}: {cause}"),
    "locked": Wording(
        "다른 프로세스가 이 지식 베이스에 쓰고 있습니다: pid {holder_pid}",
        "그 프로세스가 끝난 뒤 다시 시도하세요",
    ),
    "locked:unnamed": Wording(
        "다른 프로세스가 이 지식 베이스에 쓰고 있습니다", "그 프로세스가 끝난 뒤 다시 시도하세요"
    ),
    "client_config_invalid": Wording("{client}의 설정 파일을 변경할 수 없습니다: {path}: {cause}"),
    "read_only": Wording(
        "`--read-only`에서는 할 수 없는 작업입니다: {operation}",
        "`--read-only` 없이 다시 실행하세요",
    ),
    "read_only:published": Wording(
        "게시된 지식 베이스는 바꿀 수 없습니다: {operation}",
        "`--data-dir` 없이 다시 실행하세요",
    ),
    "read_only:needs": Wording(
        "서버가 허용하지 않는 작업입니다: {operation}", "`{needs}`로 서버를 다시 시작하세요"
    ),
    "store_corrupt": Wording("저장소가 손상되었습니다: {path}: {cause}"),
    "store_corrupt:archive": Wording("보관 파일을 사용할 수 없습니다: {archive}: {cause}"),
    "store_corrupt:published": Wording(
        "공개된 내용을 사용할 수 없습니다: {path}: {cause}",
        "게시자가 다시 게시하거나 다른 주소에 게시할 수 있습니다",
    ),
    "unsupported_media": Wording("이 파일을 읽을 파서가 없습니다: {path}: {media}"),
    "unsupported_media:setting": Wording(
        "`{setting}` 설정이 꺼져 있어 이미지를 읽지 않습니다: {path}"
    ),
    "secret_file": Wording(
        "보통 비밀 정보가 들어 있는 파일이며 `{setting}` 설정에 이름이 없습니다: {path}"
    ),
    "parse_failed": Wording("파일을 해석할 수 없습니다: {path}: {cause}"),
    "too_large": Wording("너무 큽니다: {what}: {size}바이트, 한도 {limit}"),
    "unauthorized": Wording(
        "서버의 토큰이 없거나 올바르지 않습니다", "헤더로 보내세요: `Authorization: Bearer TOKEN`"
    ),
    "server_busy": Wording(
        "이 서버를 기다리는 요청이 너무 많습니다: {waiting}", "동시에 보내는 요청을 줄이세요"
    ),
    "dependency_missing": Wording("이 기능에 필요한 라이브러리를 불러올 수 없습니다: {feature}"),
    "dependency_missing:program": Wording("이 작업에 쓸 프로그램이 없습니다: {feature}"),
    "dependency_missing:cause": Wording(
        "이 기능에 필요한 라이브러리를 불러올 수 없습니다: {feature}: {cause}"
    ),
    "cluster_unreachable": Wording(
        "{address}의 Ray 클러스터에 연결할 수 없습니다: {cause}",
        "`ray start --head`로 시작하거나 클러스터 없이 계속하세요: `kebab ingest`",
    ),
    "cluster_unreachable:failed": Wording(
        "{address}의 Ray 클러스터에 문제가 생겼습니다: {cause}",
        "끝난 작업은 보존됩니다. 이어서 계속하세요: `kebab ingest --ray {address}`",
    ),
    "cluster_unreachable:version": Wording(
        "{address}의 Ray 클러스터의 노드가 이 컴퓨터와 다릅니다: {cause}",
        "모든 노드에 같은 버전의 Python, Ray, `kebab[ray]`를 설치하세요",
    ),
    "confirmation_required": Wording("확인이 필요한 명령입니다: `{operation}`"),
    "out_of_memory": Wording(
        "메모리가 부족합니다: {operation}", "다른 프로그램을 닫고 다시 실행하세요"
    ),
    "out_of_memory:limit_bytes": Wording(
        "메모리가 부족합니다. 이 프로세스의 한도는 {limit_bytes}바이트입니다: {operation}",
        "셸의 한도를 높이세요: `ulimit -v unlimited`",
    ),
    "cancelled": Wording("중단되었습니다: {operation}"),
    "generic": Wording("예상하지 못한 문제가 생겼습니다"),
}
