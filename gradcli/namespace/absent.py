"""namespace: the public names of PyTorch 2.13 that gradcli lacks: no error calls them unknown."""

from __future__ import annotations

ABSENT: dict[str, str] = {
    "torch": (
        "AVG AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType "
        "BFloat16Storage BenchmarkConfig BenchmarkExecutionStats Block BoolStorage BoolType "
        "BufferDict ByteStorage CallStack Capsule CharStorage ClassType Code CompilationUnit "
        "CompleteArgumentSpec ComplexDoubleStorage ComplexFloatStorage ComplexType "
        "ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable "
        "DeserializationStorageContext DeviceObjType DictType DisableTorchFunction "
        "DisableTorchFunctionSubclass DispatchKey DispatchKeySet DoubleStorage EnumType "
        "ErrorReport Event ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck "
        "FloatStorage FloatType FunctionSchema Future FutureType Gradient Graph "
        "GraphExecutorState HalfStorage IODescriptor InferredType IntStorage IntType "
        "InterfaceType JITException ListType LiteScriptModule LockingLogger LoggerBase "
        "LongStorage ModuleDict Node NoneType NoopLogger NumberType OperatorInfo OptionalType "
        "PRIVATE_OPS ParameterDict PyObjectType PyTorchFileReader PyTorchFileWriter QInt32Storage "
        "QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage RRefType SUM ScriptClass "
        "ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptFunction "
        "ScriptList ScriptListIterator ScriptMethod ScriptModule ScriptModuleSerializer "
        "ScriptObject ScriptObjectProperty SerializationStorageContext ShortStorage StaticModule "
        "Storage StorageBase Stream StreamObjType StringType SymBool SymBoolType SymFloat SymInt "
        "SymIntType TYPE_CHECKING Tag TensorType ThroughputBenchmark TracingState TupleType Type "
        "TypedStorage USE_GLOBAL_DEPS USE_RTLD_GLOBAL_WITH_LIBTORCH UnionType UntypedStorage Use "
        "Value adaptive_max_pool1d alias_copy as_strided_copy autocast_decrement_nesting "
        "autocast_increment_nesting batch_norm_backward_elemt batch_norm_backward_reduce "
        "batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts "
        "batch_norm_stats batch_norm_update_stats bit bits16 bits1x8 bits2x4 bits4x2 bits8 "
        "ccol_indices_copy chalf choose_qparams_optimized classes classproperty col_indices_copy "
        "compiled_with_cxx11_abi complex32 cond conj_physical_ contrib conv_tbc convolution cpp "
        "crow_indices_copy cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution "
        "cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose "
        "cudnn_grid_sampler cudnn_is_acceptable dequantize detach_copy dsmm embedding_bag "
        "embedding_renorm_ empty_permuted empty_quantized export fake_quantize_per_channel_affine "
        "fake_quantize_per_tensor_affine fbgemm_linear_fp16_weight "
        "fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight "
        "fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight "
        "fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix float4_e2m1fn_x2 float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu fork frobenius_norm from_file "
        "frombuffer fused_moving_avg_obs_fake_quant futures fx get_autocast_cpu_dtype "
        "get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype "
        "get_deterministic_debug_mode get_device_module get_file_path get_num_interop_threads "
        "has_spectral hash_tensor hsmm hspmm import_ir_module import_ir_module_from_buffer "
        "indices_copy init_num_threads int1 int2 int3 int4 int5 int6 int7 int_repr "
        "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_ipu_enabled "
        "is_autocast_xla_enabled is_conj is_deterministic_algorithms_warn_only_enabled is_neg "
        "is_signed is_vulkan_available jagged layout legacy_contiguous_format library lobpcg "
        "masked max_pool1d_with_indices memory_format merge_type_from_type_comment "
        "miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu "
        "miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn "
        "mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights "
        "mkldnn_max_pool2d mkldnn_max_pool3d monitor mtia native_batch_norm "
        "native_channel_shuffle native_dropout native_group_norm native_norm nativert nested "
        "nuclear_norm numa onnx ops orgqr ormqr overrides package parse_ir parse_schema "
        "parse_type_comment per_channel_affine per_channel_affine_float_qparams "
        "per_channel_symmetric per_tensor_affine per_tensor_symmetric "
        "prepare_multiprocessing_environment q_per_channel_axis q_per_channel_scales "
        "q_per_channel_zero_points q_scale q_zero_point qint32 qint8 qscheme "
        "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic "
        "quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell "
        "quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell "
        "quantized_rnn_tanh_cell quasirandom quint2x4 quint4x2 quint8 resize_as_sparse_ "
        "return_types row_indices_copy saddmm segment_reduce select_copy serialization "
        "set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype "
        "set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype "
        "set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype "
        "set_autocast_xla_enabled set_deterministic_debug_mode slice_copy slice_inverse smm "
        "sparse_bsc sparse_bsc_tensor sparse_bsr sparse_bsr_tensor sparse_compressed_tensor "
        "sparse_csc sparse_csc_tensor split_copy split_with_sizes_copy sspaddmm storage "
        "sym_constrain_range sym_constrain_range_for_size sym_float sym_fresh_size sym_int "
        "sym_ite sym_max sym_min sym_not sym_sqrt sym_sum thread_safe_generator to_dlpack "
        "torch_version types uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 "
        "unbind_copy unfold_copy unify_type_list values_copy view_as_complex_copy "
        "view_as_real_copy wait while_loop windows"
    ),
    "torch.nn": (
        "Container CrossMapLRN2d LazyConvTranspose1d "
        "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d "
        "LazyInstanceNorm3d LinearCrossEntropyLoss LinearCrossEntropyOptions NLLLoss2d "
        "UninitializedBuffer UninitializedParameter backends "
        "common_types cpp factory_kwargs grad intrinsic qat quantizable"
    ),
    "torch.quantization": (
        "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS "
        "DEFAULT_MODULE_TO_ACT_POST_PROCESS DEFAULT_QAT_MODULE_MAPPINGS "
        "DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS DEFAULT_STATIC_QUANT_MODULE_MAPPINGS "
        "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize "
        "HistogramObserver MinMaxObserver MovingAverageMinMaxObserver "
        "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase "
        "PerChannelMinMaxObserver PlaceholderObserver QConfig QConfigAny QConfigDynamic "
        "QuantType QuantWrapper RecordingObserver WeightObserver add_quant_dequant convert "
        "convert_dynamic_jit convert_jit default_activation_only_qconfig default_debug_observer "
        "default_debug_qconfig default_dynamic_qconfig default_dynamic_quant_observer "
        "default_eval_fn default_fake_quant default_fixed_qparams_range_0to1_fake_quant "
        "default_fixed_qparams_range_neg1to1_fake_quant default_float_qparams_observer "
        "default_fused_act_fake_quant default_fused_per_channel_wt_fake_quant "
        "default_fused_wt_fake_quant default_histogram_fake_quant default_histogram_observer "
        "default_observer default_per_channel_qconfig default_per_channel_weight_fake_quant "
        "default_per_channel_weight_observer default_placeholder_observer default_qat_qconfig "
        "default_qat_qconfig_v2 default_qconfig default_weight_fake_quant "
        "default_weight_observer default_weight_only_qconfig disable_fake_quant "
        "disable_observer enable_fake_quant enable_observer fake_quantize "
        "float16_dynamic_qconfig float16_static_qconfig float_qparams_weight_only_qconfig "
        "fuse_conv_bn fuse_conv_bn_jit fuse_conv_bn_relu fuse_linear_bn fuse_modules "
        "fuser_method_mappings fx get_default_compare_output_module_list "
        "get_default_dynamic_quant_module_mappings "
        "get_default_float_to_quantized_operator_mappings get_default_qat_module_mappings "
        "get_default_qat_qconfig get_default_qconfig get_default_qconfig_propagation_list "
        "get_default_static_quant_module_mappings get_dynamic_quant_module_class "
        "get_fuser_method get_observer_state_dict get_quantized_operator "
        "get_static_quant_module_class load_observer_state_dict no_observer_set observer "
        "per_channel_dynamic_qconfig prepare prepare_dynamic_jit prepare_jit prepare_qat "
        "propagate_qconfig_ qconfig qconfig_equals quant_type quantization_mappings quantize "
        "quantize_dynamic quantize_dynamic_jit quantize_fx quantize_jit quantize_qat "
        "script_qconfig script_qconfig_dict stubs swap_module utils"
    ),
    "torch.nn.quantized": (
        "BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
        "ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional "
        "GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm "
        "LeakyReLU Linear MaxPool2d MultiheadAttention PReLU QFunctional Quantize ReLU6 Sigmoid "
        "Softmax dynamic functional"
    ),
    "torch.nn.functional": (
        "BroadcastingList1 BroadcastingList2 BroadcastingList3 GRID_SAMPLE_INTERPOLATION_MODES "
        "GRID_SAMPLE_PADDING_MODES ScalingType SwizzleType TYPE_CHECKING Tensor "
        "adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
        "adaptive_max_pool3d_with_indices assert_int_or_pair boolean_dispatch conv_tbc grad "
        "grouped_mm handle_torch_function has_torch_function has_torch_function_unary "
        "has_torch_function_variadic linear_cross_entropy native_channel_shuffle "
        "reproducibility_notes scaled_grouped_mm scaled_mm sparse_support_notes tf32_notes"
    ),
    "torch.nn.utils": (
        "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format "
        "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights fusion "
        "init memory_format skip_init stateless"
    ),
    "torch.nn.utils.parametrize": (
        "Module ModuleDict ModuleList OpaqueBase Parameter Tensor "
        "get_swap_module_params_on_conversion is_opaque_reference_type "
        "is_traceable_wrapper_subclass transfer_parametrizations_and_params "
        "type_before_parametrizations"
    ),
    "torch.nn.parameter": (
        "UninitializedBuffer UninitializedParameter UninitializedTensorMixin is_lazy"
    ),
    "torch.nn.attention": (
        "SDPAParams WARN_FOR_UNFUSED_KERNELS activate_flash_attention_impl bias "
        "can_use_efficient_attention can_use_flash_attention current_flash_attention_impl "
        "experimental flex_attention list_flash_attention_impls register_flash_attention_impl "
        "restore_flash_attention_impl varlen"
    ),
    "torch.optim": "sparse_adam swap_in_optimizer_params_and_state",
    "torch.optim.optimizer": (
        "RemovableHandle hooks register_optimizer_step_post_hook register_optimizer_step_pre_hook"
    ),
    "torch.autograd": (
        "DeviceType NestedIOFunction ProfilerActivity ProfilerConfig ProfilerEvent ProfilerState "
        "SavedTensor enforce_grad_layout_policy handle_torch_function has_torch_function "
        "is_multithreading_enabled is_tensor_like is_view_replay_enabled kineto_available "
        "set_multithreading_enabled"
    ),
    "torch.autograd.graph": (
        "RemovableHandle TYPE_CHECKING TorchDispatchMode Variable region_activation_memory_budget "
        "set_override_stale_capture_stream set_warn_on_accumulate_grad_stream_mismatch"
    ),
    "torch.autograd.function": (
        "AUTOGRAD_FUNCTION_COUNTER BackwardCFunction FunctionCtx FunctionMeta "
        "NestedIOFunction custom_function_call hooks"
    ),
    "torch.func": "debug_unwrap functionalize rearrange replace_all_batch_norm_modules_",
    "torch.distributions": "Wishart constraint_registry",
    "torch.distributions.constraints": "MixtureSameFamilyConstraint dependent is_dependent",
    "torch.distributions.utils": (
        "SymInt Tensor euler_constant is_tensor_like lazy_property tril_matrix_to_vec "
        "vec_to_tril_matrix"
    ),
    "torch.linalg": "common_notes ldl_factor ldl_factor_ex ldl_solve",
    "torch.utils": (
        "ThroughputBenchmark backcompat backend_registration benchmark bundled_inputs "
        "cmake_prefix_path collect_env cpp_backtrace cpp_extension debug_log deterministic dlpack "
        "file_baton flop_counter generate_methods_for_privateuse1_backend get_cpp_backtrace "
        "hipify hooks jit mkldnn mobile_optimizer model_dump module_tracker "
        "rename_privateuse1_backend serialization set_module show_pickle swap_tensors "
        "throughput_benchmark viz weak"
    ),
    "torch.utils.data": (
        "DFIterDataPipe DataChunk DistributedSampler IterDataPipe MapDataPipe argument_validation "
        "backward_compatibility datapipes functional_datapipe graph graph_settings "
        "guaranteed_datapipes_determinism non_deterministic runtime_validation "
        "runtime_validation_disabled"
    ),
    "torch.utils.checkpoint": (
        "CheckpointPolicy DefaultDeviceType GraphExecGroup LoggingTensorMode SAC_IGNORED_OPS "
        "SavedTensor SelectiveCheckpointContext TYPE_CHECKING TorchDispatchMode capture_logs "
        "check_backward_validity create_selective_checkpoint_contexts fx_traceback tree_map"
    ),
    "torch.cuda": (
        "AcceleratorError BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage "
        "ByteTensor CUDAGraph CUDAPluggableAllocator CharStorage CharTensor ComplexDoubleStorage "
        "ComplexFloatStorage CudaError DEVICE_REQUIREMENT DeferredCudaCallError DoubleStorage "
        "DoubleTensor Event ExternalStream FloatStorage FloatTensor GreenContext HalfStorage "
        "HalfTensor IntStorage IntTensor LongStorage LongTensor MemPool PYTORCH_RELEASES_CODE_CC "
        "ShortStorage ShortTensor Stream StreamContext TYPE_CHECKING caching_allocator_alloc "
        "caching_allocator_delete caching_allocator_disabled caching_allocator_enable "
        "can_device_access_peer change_current_allocator check_error classproperty clock_rate "
        "comm cudaStatus cudart current_blas_handle current_solver_handle current_stream "
        "default_generators default_stream device device_memory_used device_of gds "
        "get_allocator_backend get_arch_list get_device_properties get_gencode_flags "
        "get_per_process_memory_fraction get_rng_state get_rng_state_all get_stream_from_external "
        "get_sync_debug_mode graph graph_pool_handle graphs green_contexts has_half has_magma "
        "host_memory_stats host_memory_stats_as_nested_dict init initial_seed ipc_collect "
        "is_current_stream_capturing is_tf32_supported jiterator list_gpu_processes "
        "make_graphed_callables max_memory_cached mem_get_info memory memory_cached "
        "memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary memory_usage "
        "nccl nvtx power_draw profiler random reset_accumulated_host_memory_stats "
        "reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached "
        "reset_peak_host_memory_stats reset_peak_memory_stats set_per_process_memory_fraction "
        "set_rng_state set_rng_state_all set_stream set_sync_debug_mode sparse stream streams "
        "temperature tunable use_mem_pool utilization"
    ),
    "torch.backends": (
        "cpu cusparselt kleidiai mha miopen nnpack opt_einsum python_native quantized xeon xnnpack"
    ),
    "torch.jit": (
        "Attribute CompilationUnit Error Future ONNXTracedModule RecursiveScriptClass "
        "RecursiveScriptModule ScriptFunction ScriptWarning TopLevelTracedModule "
        "TracedModule TracerWarning TracingCheckError annotations enable_onednn_fusion "
        "export_opnames fork freeze frontend fuser generate_bytecode interface isinstance "
        "jit_module_from_flatbuffer last_executed_optimized_graph mobile onednn_fusion_enabled "
        "optimize_for_inference optimized_execution quantized run_frozen_optimizations "
        "save_jit_module_to_flatbuffer set_fusion_strategy "
        "set_module strict_fusion supported_ops trace_module unsupported_tensor_ops wait"
    ),
    "torch.compiler": (
        "CacheInfo NestedCompileRegionOptions config get_default_backend "
        "keep_portable_guards_unsafe keep_tensor_guards_unsafe list_backends load_cache_artifacts "
        "load_compiled_function nested_compile_region save_cache_artifacts set_default_backend "
        "set_enable_guard_collectives set_stance skip_all_guards_unsafe "
        "skip_guard_on_all_nn_modules_unsafe skip_guard_on_globals_unsafe "
        "skip_guard_on_inbuilt_nn_modules_unsafe substitute_in_graph wrap_numpy"
    ),
    "torch.accelerator": (
        "Graph current_device_idx current_device_index current_stream device_index empty_cache "
        "empty_host_cache get_device_capability get_memory_info graphs max_memory_allocated "
        "max_memory_reserved memory memory_allocated memory_reserved memory_stats "
        "reset_accumulated_memory_stats reset_peak_memory_stats set_device_idx set_device_index "
        "set_stream synchronize"
    ),
    "torch.mps": (
        "Event Tensor compile_shader current_allocated_memory device_count "
        "driver_allocated_memory empty_cache event get_rng_state load_metallib profiler "
        "recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize"
    ),
    "torch.xpu": (
        "Event MemPool Stream StreamContext TYPE_CHECKING XPUGraph XPUPluggableAllocator "
        "can_device_access_peer change_current_allocator clock_rate current_device current_stream "
        "default_generators device device_count device_memory_used device_of empty_cache "
        "get_arch_list get_device_capability get_device_name get_device_properties "
        "get_gencode_flags get_per_process_memory_fraction get_rng_state get_rng_state_all "
        "get_stream_from_external graph graph_pool_handle graphs init initial_seed "
        "is_bf16_supported is_current_stream_capturing is_initialized is_tf32_supported "
        "make_graphed_callables manual_seed manual_seed_all max_memory_allocated "
        "max_memory_reserved mem_get_info memory memory_allocated memory_reserved memory_snapshot "
        "memory_stats memory_stats_as_nested_dict memory_usage power_draw random "
        "reset_accumulated_memory_stats reset_peak_memory_stats seed seed_all set_device "
        "set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream "
        "streams synchronize temperature use_mem_pool utilization"
    ),
    "torch.cpu": (
        "Event Stream StreamContext current_device current_stream get_capabilities is_initialized "
        "set_device stream"
    ),
    "torch.distributed": (
        "AllToAllOptions AllreduceCoalescedOptions AllreduceOptions Backend BackendConfig "
        "BarrierOptions BroadcastOptions BuiltinCommHookType DebugLevel DeviceMesh "
        "DistBackendError DistError DistNetworkError DistStoreError FileStore GatherOptions "
        "GradBucket GroupMember GroupName HashStore Logger P2POp PrefixStore ProcessGroup "
        "ProcessGroupGloo QueueEmptyError ReduceOp ReduceOptions ReduceScatterOptions Reducer "
        "ScatterOptions Store TCPStore Work algorithms all_gather_coalesced "
        "all_gather_into_tensor all_gather_object all_gather_single all_reduce_coalesced "
        "all_to_all all_to_all_single argparse_util autograd batch_isend_irecv breakpoint "
        "broadcast_object_list c10d_logger checkpoint collective_utils config constants debug "
        "default_pg_timeout device_mesh distributed_c10d elastic flight_recorder fsdp "
        "gather_object get_backend get_backend_config get_debug_level "
        "get_default_backend_for_device get_global_rank get_group_rank get_node_local_rank "
        "get_pg_count get_process_group_ranks group init_device_mesh irecv is_backend_available "
        "is_ucc_available is_xccl_available isend launch launcher logging_handlers "
        "monitored_barrier new_subgroups new_subgroups_by_enumeration nn optim pipelining "
        "record_comm recv_object_list reduce_op reduce_scatter reduce_scatter_single "
        "reduce_scatter_tensor register_rendezvous_handler remote_device rendezvous rpc run "
        "scatter_object_list send_object_list set_debug_level set_debug_level_from_env "
        "shrink_group split_group supports_complex tensor utils"
    ),
    "torch.multiprocessing": (
        "Array AuthenticationError Barrier BoundedSemaphore BufferTooShort Condition "
        "ENV_VAR_PARALLEL_START Event JoinableQueue Lock Manager Pipe ProcessContext ProcessError "
        "ProcessExitedException ProcessRaisedException RLock RawArray RawValue Semaphore "
        "SimpleQueue SpawnContext TimeoutError Value active_children allow_connection_pickling "
        "cpu_count current_process freeze_support get_all_sharing_strategies "
        "get_all_start_methods get_context get_logger get_sharing_strategy get_start_method "
        "init_reductions log_to_stderr parent_process pool queue reducer reductions "
        "set_executable set_forkserver_preload set_sharing_strategy start_processes"
    ),
    "torch.hub": (
        "DEFAULT_CACHE_DIR ENV_GITHUB_TOKEN ENV_TORCH_HOME ENV_XDG_CACHE_HOME MODULE_HUBCONF "
        "READ_DATA_CHUNK VAR_DEPENDENCY get_dir set_dir tqdm"
    ),
    "torch.sparse": (
        "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
        "SparseSemiStructuredTensorCUTLASS TYPE_CHECKING Tensor as_sparse_gradcheck sampled_addmm "
        "semi_structured solve spdiags spsolve to_sparse_semi_structured"
    ),
    "torch.testing": "FileCheck make_tensor",
    "torch.version": "git_version rocm xpu",
    "torch.Tensor": (
        "as_subclass ccol_indices chalf const_data_ptr dequantize dim_order eig grad_dtype "
        "hash_tensor index int_repr ipu is_conj is_distributed is_ipu is_maia is_mkldnn is_mtia "
        "is_neg is_pinned is_set_to is_shared is_vulkan is_xla is_xpu lstsq module_load mtia name "
        "new_empty_strided orgqr ormqr pin_memory q_per_channel_axis q_per_channel_scales "
        "q_per_channel_zero_points q_scale q_zero_point qscheme record_stream reinforce "
        "resize_as_sparse_ row_indices set_ slice_inverse smm solve sparse_resize_ "
        "sparse_resize_and_clear_ sspaddmm storage_type symeig to_mkldnn to_padded_tensor "
        "to_sparse_bsc to_sparse_bsr to_sparse_csc xpu"
    ),
}


def absence(space: str, name: str) -> str | None:
    """What an error says of a name of PyTorch's that is not here; None where PyTorch has none.

    Private names of PyTorch's modules are not listed; they count as its own.
    """
    private = name[:1] == "_" != name[1:2] and space.startswith("torch") and space != "torch.Tensor"
    if not private and name not in ABSENT.get(space, "").split():
        return None
    return f"gradcli does not have {space}.{name}"


def is_absent(path: str) -> bool:
    """Is a dotted name PyTorch's and not here, itself or a module above it?"""
    parts = path.split(".")
    return any(absence(".".join(parts[:at]), parts[at]) for at in range(1, len(parts)))
