"""The Chinese messages and hints; commands, settings and values are not translated."""

from kebab.errors.signal import Wording

# A wording is a message and a hint, by code or by `CODE:CASE` (see `Signal.choose_case`). A case
# without a message has that of its code; where a hint is left out, the English one is shown.
TEXTS: dict[str, Wording] = {
    "config_invalid": Wording(
        "配置无效：{path}：{cause}", "请更正文件，或保留副本并重新生成：`kebab init --force`"
    ),
    "usage_invalid": Wording("无法理解该命令：{cause}"),
    "invalid_input": Wording("`{field}` 无效：{cause}"),
    "invalid_cursor": Wording("游标无效：{cause}", "去掉 `--cursor` 重新搜索"),
    "stale_cursor": Wording(
        "签发游标之后索引已有变动：当时修订号 {issued_revision}，现为 {current_revision}",
        "去掉 `--cursor` 重新搜索",
    ),
    "stale_cursor:path": Wording(
        "审阅开始之后文档已有变动：{path}", "请重新审阅：`kebab review {path}`"
    ),
    "not_indexed": Wording("没有可用的索引：{data_dir}"),
    "not_indexed:older": Wording(
        "没有可用的索引：{data_dir}：索引的结构版本为 {found}，本版本可读取 {expected}"
    ),
    "not_indexed:newer": Wording(
        "没有可用的索引：{data_dir}：索引的结构版本为 {found}，本版本可读取 {expected}"
    ),
    "not_indexed:file": Wording("无法读取 {file}：其结构版本为 {found}，本版本可读取 {expected}"),
    "model_unreachable": Wording(
        "无法连接模型服务器：{endpoint}：{cause}", "请不用服务器继续：`{fallback}`"
    ),
    "model_unreachable:ollama": Wording(
        "无法连接 Ollama：{endpoint}（`{setting}`）：{cause}",
        "请用 `ollama serve` 启动服务器，或不用服务器继续：`{fallback}`",
    ),
    "model_unreachable:address": Wording(
        "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
        "请启动服务器，或设置其他地址：`export {variable}=URL`",
    ),
    "model_unreachable:proxy": Wording(
        "无法通过 `{setting}` 的代理连接模型服务器：{endpoint}：{cause}",
        '请绕过代理：`export NO_PROXY="$NO_PROXY,"{host}`',
    ),
    "model_unreachable:issuer": Wording(
        "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
        "请信任 PEM 文件中的颁发者：`export SSL_CERT_FILE=FILE`",
    ),
    "model_unreachable:certificate": Wording(
        "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
        "请更新证书，或设置其他地址：`export {variable}=URL`",
    ),
    "model_unreachable:silent": Wording(
        "无法连接模型服务器：{endpoint}（`{setting}`）：{cause}",
        "请在服务器空闲后重试，或设置其他地址：`export {variable}=URL`",
    ),
    "model_unreachable:server": Wording(
        "没有收到模型服务器 {endpoint} 的完整回答：{cause}",
        "请重试，或不用服务器继续：`{fallback}`",
    ),
    "model_unreachable:needed": Wording(hint="请在服务器运行后重试"),
    "model_not_pulled": Wording("Ollama 没有该模型：{model}"),
    "model_not_pulled:not_offered": Wording("模型服务器 {endpoint} 不提供该模型：{model}"),
    "model_rejected": Wording("模型服务器拒绝了 {model}：{cause}", "换用其他模型：`{other}`"),
    "model_rejected:key_missing": Wording(
        "模型服务器 {endpoint} 需要密钥，而 `{setting}` 没有设置：{cause}"
    ),
    "model_rejected:key_refused": Wording(
        "模型服务器 {endpoint} 拒绝了 `{setting}` 中的密钥：{cause}"
    ),
    "model_rejected:sign_in": Wording("Ollama 需要账号才能使用 {model}：{cause}"),
    "model_rejected:option": Wording("模型服务器拒绝了 {model} 的 `{setting}` 设置：{cause}"),
    "model_rejected:memory": Wording(
        "模型服务器的内存不足以运行 {model}：{cause}", "换用更小的模型：`{other}`"
    ),
    "model_rejected:load": Wording(
        "模型服务器无法加载 {model}：{cause}", "换用其他模型：`{other}`"
    ),
    "model_busy": Wording("模型服务器繁忙：{endpoint}", "请稍后重试"),
    "model_busy:loading": Wording("模型服务器仍在加载模型：{endpoint}"),
    "model_protocol": Wording("收到 {endpoint} 的意外响应：{cause}"),
    "model_protocol:setting": Wording("收到 {endpoint}（`{setting}`）的意外响应：{cause}"),
    "context_overflow": Wording(
        "提示词超出模型的上下文窗口（{context_tokens} 个 token）：{prompt_tokens}",
        "比 `models.llm.context_tokens = {context_tokens}` 更大的窗口可容纳更多内容；"
        "不用模型继续：`{fallback}`",
    ),
    "context_overflow:needed": Wording(
        hint="比 `models.llm.context_tokens = {context_tokens}` 更大的窗口可容纳更多内容"
    ),
    "embedding_unavailable": Wording("无法获取嵌入模型 {model}：{cause}"),
    "embedding_unavailable:endpoint": Wording("{endpoint} 未提供 {model} 的向量：{cause}"),
    "embedding_mismatch": Wording(
        "建立索引的模型与配置的模型不同：索引为 {found}，配置为 {expected}"
    ),
    "timeout": Wording("{operation} 超过了时限：{deadline_ms} 毫秒"),
    "timeout:setting": Wording("{operation} 超过了 `{setting}` 的时限：{deadline_ms} 毫秒"),
    "timeout:document": Wording("读取 {path} 超过了 `{setting}` 的时限：{deadline_ms} 毫秒"),
    "timeout:first_token": Wording(
        "模型服务器 {endpoint} 在 `{setting}` 内没有返回首个 token：{deadline_ms} 毫秒"
    ),
    "timeout:next_token": Wording(
        "模型服务器 {endpoint} 在 `{setting}` 内没有返回下一个 token：{deadline_ms} 毫秒"
    ),
    "timeout:answer": Wording(
        "模型服务器 {endpoint} 的回答超过了 `{setting}` 的时限：{deadline_ms} 毫秒"
    ),
    "timeout:server": Wording("模型服务器 {endpoint} 太慢，操作 {operation}：{deadline_ms} 毫秒"),
    "io_error": Wording("文件系统操作（{op}）失败：{path}：{cause}"),
    "locked": Wording("另一个进程正在写入此知识库：pid {holder_pid}", "等它结束后再试"),
    "locked:unnamed": Wording("另一个进程正在写入此知识库", "等它结束后再试"),
    "client_config_invalid": Wording("无法更改 {client} 的设置：{path}：{cause}"),
    "read_only": Wording("`--read-only` 下不允许此操作：{operation}", "去掉 `--read-only` 后重试"),
    "read_only:published": Wording(
        "已发布的知识库不能更改：{operation}", "去掉 `--data-dir` 后重试"
    ),
    "read_only:needs": Wording("服务器不允许此操作：{operation}", "请用 `{needs}` 重新启动服务器"),
    "store_corrupt": Wording("存储已损坏：{path}：{cause}"),
    "store_corrupt:archive": Wording("无法使用归档文件：{archive}：{cause}"),
    "store_corrupt:published": Wording(
        "无法使用已发布的内容：{path}：{cause}", "发布者可以重新发布，或发布到另一个地址"
    ),
    "unsupported_media": Wording("没有解析器能读取此文件：{path}：{media}"),
    "unsupported_media:setting": Wording("`{setting}` 已关闭，因此不读取图片：{path}"),
    "secret_file": Wording("此文件通常含有机密，且 `{setting}` 未列出它：{path}"),
    "parse_failed": Wording("无法解析文件：{path}：{cause}"),
    "too_large": Wording("过大：{what}：{size} 字节，上限 {limit}"),
    "unauthorized": Wording(
        "服务器的令牌缺失或有误", "请放在请求头中发送：`Authorization: Bearer TOKEN`"
    ),
    "server_busy": Wording("等待此服务器的请求过多：{waiting}", "请减少同时发送的请求"),
    "dependency_missing": Wording("无法加载此功能所需的库：{feature}"),
    "dependency_missing:program": Wording("没有可用于此操作的程序：{feature}"),
    "dependency_missing:cause": Wording("无法加载此功能所需的库：{feature}：{cause}"),
    "cluster_unreachable": Wording(
        "无法连接 {address} 的 Ray 集群：{cause}",
        "请用 `ray start --head` 启动，或不用集群继续：`kebab ingest`",
    ),
    "cluster_unreachable:failed": Wording(
        "{address} 的 Ray 集群出错：{cause}",
        "已完成的工作会保留，可从那里继续：`kebab ingest --ray {address}`",
    ),
    "cluster_unreachable:version": Wording(
        "{address} 的 Ray 集群的节点与本机不一致：{cause}",
        "请在每个节点安装相同版本的 Python、Ray 和 `kebab[ray]`",
    ),
    "confirmation_required": Wording("`{operation}` 需要确认"),
    "out_of_memory": Wording("内存不足：{operation}", "请关闭其他程序后重试"),
    "out_of_memory:limit_bytes": Wording(
        "内存不足，此进程的上限为 {limit_bytes} 字节：{operation}",
        "请提高 shell 的上限：`ulimit -v unlimited`",
    ),
    "cancelled": Wording("已中断：{operation}"),
    "generic": Wording("发生了意料之外的问题"),
}
